package builtin_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	corev1 "k8s.io/api/core/v1"
)

// inMemory is an embedded backend that has nothing to restore.
type inMemory struct{}

func (inMemory) Open(context.Context, string, storage.EmbeddedOptions) (storage.Backend, error) {
	return memory.New(), nil
}

func (inMemory) Restore(context.Context, string, string, storage.RestoreOptions) error {
	return errors.New("there is nothing to restore")
}

// authority returns a new certificate authority in PEM.
func authority(t *testing.T, name string) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// standalone is a running program with all ready-made features. The users of its tokens are their names.
type standalone struct {
	*testing.T
	url    string
	client *http.Client
}

func runStandalone(t *testing.T, args ...string) *standalone {
	t.Helper()
	dir := t.TempDir()
	tokens := filepath.Join(dir, "tokens.csv")
	content := "admin,admin,,system:masters\nmanager,system:kube-controller-manager,\nbob,bob,\n"
	if err := os.WriteFile(tokens, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	command := server.Command(server.Program{
		Name: "shop", Embedded: inMemory{}, Features: append(builtin.Standalone(), &frontproxy.Feature{}),
	})
	out, in := io.Pipe()
	command.SetOut(in)
	command.SetArgs(append(args, "--secure-port=0", "--data-dir="+dir, "--token-auth-file="+tokens))
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		err := command.ExecuteContext(ctx)
		ended <- errors.Join(err, in.CloseWithError(err))
	}()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}
	t.Cleanup(func() {
		stop()
		transport.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	said := make([]byte, 1000)
	n, err := out.Read(said)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return &standalone{t, regexp.MustCompile(`https://\S+`).FindString(string(said[:n])),
		&http.Client{Transport: transport}}
}

// do sends a request as a user.
func (s *standalone) do(user, method, path, body string) (code int, answer []byte) {
	s.Helper()
	request, err := http.NewRequestWithContext(s.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+user)
	request.Header.Set("Content-Type", "application/merge-patch+json")
	response, err := s.client.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	if answer, err = io.ReadAll(response.Body); err != nil {
		s.Fatal(err)
	}
	return response.StatusCode, answer
}

// A server publishes whom it believes, to those whom kube-apiserver's roles let read it, and follows its files.
func TestTrustIsPublished(t *testing.T) {
	t.Parallel()
	const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication"
	clients, proxy := filepath.Join(t.TempDir(), "clients.crt"), filepath.Join(t.TempDir(), "proxy.crt")
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second, proxies := authority(t, "1"), authority(t, "2"), authority(t, "proxies")
	write(clients, first)
	write(proxy, proxies)
	s := runStandalone(t, "--client-ca-file="+clients, "--requestheader-client-ca-file="+proxy,
		"--requestheader-username-headers=X-Remote-User", "--requestheader-allowed-names=aggregator")
	published := func(has string) map[string]string {
		t.Helper()
		tick, end := time.NewTicker(10*time.Millisecond), time.Now().Add(time.Minute)
		defer tick.Stop()
		for n := 0; ; <-tick.C {
			code, answer := s.do("manager", http.MethodGet, path, "")
			var config corev1.ConfigMap
			if code == http.StatusOK {
				if err := json.Unmarshal(answer, &config); err != nil {
					t.Fatal(err)
				}
				if strings.Contains(config.Data["client-ca-file"], has) {
					return config.Data
				}
			}
			if time.Now().After(end) {
				t.Fatalf("%d %s", code, answer)
			}
			if n++; n%50 == 0 { // a change wakes the publisher
				s.do("admin", http.MethodPatch, path, fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, n))
			}
		}
	}
	data := published(first)
	if strings.Count(data["client-ca-file"], "BEGIN CERTIFICATE") != 2 {
		t.Errorf("the server's own authority and one more: %s", data["client-ca-file"])
	}
	for key, want := range map[string]string{
		"requestheader-client-ca-file": proxies, "requestheader-username-headers": `["X-Remote-User"]`,
		"requestheader-allowed-names": `["aggregator"]`,
	} {
		if data[key] != want {
			t.Errorf("%s: %s, want %s", key, data[key], want)
		}
	}
	if code, answer := s.do("bob", http.MethodGet, path, ""); code != http.StatusForbidden {
		t.Errorf("bob: %d %s", code, answer)
	}
	write(clients, second)
	published(second)
}
