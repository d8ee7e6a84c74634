package clusterauthenticationtrust

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// authority returns a certificate that ends at a time, in PEM.
func authority(t *testing.T, name string, ends time.Time) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{Subject: pkix.Name{CommonName: name}, NotAfter: ends, IsCA: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// The data of the ConfigMap joins what is published with a server's own, in kube-apiserver's form.
func TestMerge(t *testing.T) {
	now := time.Now()
	a, b := authority(t, "a", now.Add(time.Hour)), authority(t, "b", now.Add(time.Hour))
	late, old := authority(t, "late", now.Add(-4*time.Minute)), authority(t, "old", now.Add(-6*time.Minute))
	join := func(all ...[]byte) string { return string(bytes.Join(all, nil)) }
	proxy := FrontProxy{CA: b, UsernameHeaders: []string{"X-Remote-User"}, GroupHeaders: []string{"X-Remote-Group"},
		ExtraHeaderPrefixes: []string{"X-Remote-Extra-"}}
	full := map[string]string{
		clientCA: string(a), proxyCA: string(b), proxyNames: `[]`, userHeaders: `["X-Remote-User"]`,
		groupHeaders: `["X-Remote-Group"]`, extraPrefixes: `["X-Remote-Extra-"]`,
	}
	for name, test := range map[string]struct {
		published map[string]string
		trust     Trust
		want      map[string]string
	}{
		"nothing":   {nil, Trust{}, map[string]string{}},
		"clients":   {nil, Trust{ClientCA: a}, map[string]string{clientCA: string(a)}},
		"all":       {nil, Trust{ClientCA: a, FrontProxy: proxy}, full},
		"again":     {full, Trust{ClientCA: a, FrontProxy: proxy}, full},
		"less":      {full, Trust{ClientCA: a}, full},
		"other key": {map[string]string{"x": "y"}, Trust{ClientCA: a}, map[string]string{clientCA: string(a)}},
		"two": {map[string]string{clientCA: string(b)}, Trust{ClientCA: []byte("# comment\n" + string(a))},
			map[string]string{clientCA: join(b, a)}},
		"ended": {map[string]string{clientCA: join(old, late)}, Trust{ClientCA: a},
			map[string]string{clientCA: join(late, a)}},
		"names": {
			map[string]string{proxyCA: string(b), proxyNames: `["p","q"]`, userHeaders: `["X-User"]`},
			Trust{FrontProxy: FrontProxy{CA: b, AllowedNames: []string{"q", "r"},
				UIDHeaders: []string{"X-Remote-Uid"}}},
			map[string]string{proxyCA: string(b), proxyNames: `["p","q","r"]`, userHeaders: `[]`,
				uidHeaders: `["X-Remote-Uid"]`, groupHeaders: `[]`, extraPrefixes: `[]`},
		},
		"headers of former flags": {
			map[string]string{proxyCA: string(b), userHeaders: `["X-Old-User","X-Remote-User"]`,
				groupHeaders: `["X-Old-Group"]`, extraPrefixes: `["X-Old-Extra-"]`},
			Trust{ClientCA: a, FrontProxy: proxy}, full,
		},
	} {
		got, err := merge(test.published, test.trust, now)
		if err != nil || !maps.Equal(got, test.want) {
			t.Errorf("%s: %v, %v; want %v", name, got, err, test.want)
		}
	}
	for _, broken := range []map[string]string{
		{proxyNames: "no list"}, {clientCA: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"},
	} {
		if _, err := merge(broken, Trust{}, now); err == nil {
			t.Errorf("%v is accepted", broken)
		}
	}
}

// The hook makes the ConfigMap, makes it again when somebody deletes it, and adds to it what the server trusts since.
func TestPublish(t *testing.T) {
	first, second := authority(t, "1", time.Now().Add(time.Hour)), authority(t, "2", time.Now().Add(time.Hour))
	var mu sync.Mutex
	trust := Trust{ClientCA: first}
	current := func() Trust {
		mu.Lock()
		defer mu.Unlock()
		return trust
	}
	published, contexts := make(chan string, 100), make(chan context.Context, 1)
	apitest.StartWith(t, func(config *server.Config) {
		config.Hooks = []server.Hook{Publish(current, slog.New(slog.DiscardHandler)),
			{Name: "test", Run: func(ctx context.Context) error {
				all, err := reach.Of[*corev1.ConfigMap](ctx)
				if err != nil {
					return err
				}
				contexts <- ctx
				return all.Follow(ctx, namespace, func(changes reach.Changes[*corev1.ConfigMap]) {
					for _, config := range changes.Put {
						published <- config.Data[clientCA]
					}
				})
			}}}
	}, (&core.Feature{}).Groups()...)
	ctx := <-contexts
	objects, err := reach.Of[*corev1.ConfigMap](ctx)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-published; got != string(first) {
			t.Errorf("published: %s", got)
		}
		if err := objects.Delete(ctx, namespace, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	<-published
	mu.Lock()
	trust.ClientCA = second
	mu.Unlock()
	_, err = objects.Update(ctx, namespace, name, reach.Write{}, func(config *corev1.ConfigMap) error {
		config.Labels = map[string]string{"touched": "yes"}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for got := <-published; got != string(first)+string(second); got = <-published {
		if got != string(first) {
			t.Fatalf("published: %s", got)
		}
	}
}
