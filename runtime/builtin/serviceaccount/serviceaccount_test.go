package serviceaccount

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// world is a server's objects, for tests, by kind, namespace and name.
type world map[string]metav1.Object

func (w world) lookup(_ context.Context, kind Kind, namespace, name string) (metav1.Object, error) {
	if object := w[string(kind)+" "+namespace+"/"+name]; object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(schema.GroupResource{Resource: strings.ToLower(string(kind)) + "s"}, name)
}

func meta(name, uid string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: name, UID: types.UID(uid)}
}

// deletedAt returns the metadata of an object whose deletion was asked for.
func deletedAt(name, uid string, when time.Time) metav1.ObjectMeta {
	out := meta(name, uid)
	out.DeletionTimestamp = &metav1.Time{Time: when}
	return out
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func someWorld() world {
	pod := &corev1.Pod{ObjectMeta: meta("web", "pod-uid")}
	pod.Spec.NodeName = "n1"
	lost := &corev1.Pod{ObjectMeta: meta("lost", "lost-uid")}
	lost.Spec.NodeName = "gone"
	return world{
		"ServiceAccount shop/robot": &corev1.ServiceAccount{ObjectMeta: meta("robot", "robot-uid")},
		"Secret shop/s":             &corev1.Secret{ObjectMeta: meta("s", "secret-uid")},
		"Pod shop/web":              pod,
		"Pod shop/lost":             lost,
		"Node /n1":                  &corev1.Node{ObjectMeta: meta("n1", "node-uid")},
	}
}

// testKeys are private keys, one of each algorithm; they are made once.
var testKeys = func() map[string]crypto.Signer {
	keys := map[string]crypto.Signer{}
	for name, curve := range map[string]elliptic.Curve{
		"ES256": elliptic.P256(), "ES384": elliptic.P384(), "ES512": elliptic.P521(),
	} {
		key, err := ecdsa.GenerateKey(curve, rand.Reader)
		if err != nil {
			panic(err)
		}
		keys[name] = key
	}
	key, err := rsa.GenerateKey(rand.Reader, keyBits)
	if err != nil {
		panic(err)
	}
	keys["RS256"] = key
	return keys
}()

func privatePEM(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

func publicPEM(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
}

// newAuthority is an authority for tests, whose clock stands.
func newAuthority(t testing.TB, algorithm string, w world) *authority {
	t.Helper()
	a := &authority{
		issuers: []string{"https://shop.example.com", "https://old.example.com"}, audiences: []string{"api",
			"https://shop"},
		lookup: w.lookup, now: func() time.Time { return start }, lifetime: lifetime{extend: true},
	}
	k, err := newKeys(privatePEM(t, testKeys[algorithm]))
	if err != nil {
		t.Fatal(err)
	}
	a.keys.Store(k)
	return a
}

func request(bound *auth.BoundObject) auth.TokenRequest {
	return auth.TokenRequest{Account: auth.TokenAccount{Namespace: "shop", Name: "robot", UID: "robot-uid"},
		Seconds: 600, Bound: bound}
}

func issue(t testing.TB, a *authority, r auth.TokenRequest) string {
	t.Helper()
	token, _, err := a.IssueToken(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestTokensOfAllAlgorithms(t *testing.T) {
	for algorithm := range testKeys {
		a := newAuthority(t, algorithm, someWorld())
		token, expires, err := a.IssueToken(t.Context(), request(nil))
		if err != nil || !expires.Equal(start.Add(10*time.Minute)) {
			t.Fatalf("%s: %s, %v", algorithm, expires, err)
		}
		s, err := parse(token)
		if err != nil || s.header.Algorithm != algorithm || s.header.KeyID != a.keys.Load().signing.id {
			t.Errorf("%s: %+v, %v", algorithm, s.header, err)
		}
		identity, err := a.AuthenticateToken(t.Context(), token, nil)
		if err != nil {
			t.Fatalf("%s: %v", algorithm, err)
		}
		var c claims
		if err := decode(s.payload, &c); err != nil {
			t.Fatal(err)
		}
		want := &auth.Identity{User: &auth.User{
			Name: "system:serviceaccount:shop:robot", UID: "robot-uid",
			Groups: []string{"system:serviceaccounts", "system:serviceaccounts:shop"},
			Extra:  map[string][]string{"authentication.kubernetes.io/credential-id": {"JTI=" + c.ID}},
		}, Audiences: []string{"api", "https://shop"}, Expires: c.Expires.Add(time.Minute)}
		if !reflect.DeepEqual(identity, want) {
			t.Errorf("%s: %+v, want %+v", algorithm, identity, want)
		}
	}
}

func TestBoundTokens(t *testing.T) {
	for _, row := range []struct {
		bound  *auth.BoundObject
		claims string // of kubernetes.io, beside namespace and account
		extra  string // the user's, without the credential's id
		dies   string // what the token dies with
	}{
		{nil, `{}`, "", ""},
		{&auth.BoundObject{APIVersion: "v1", Kind: "Secret", Name: "s", UID: "secret-uid"},
			`{"secret":{"name":"s","uid":"secret-uid"}}`, "", "Secret shop/s"},
		{&auth.BoundObject{APIVersion: "v1", Kind: "Pod", Name: "web", UID: "pod-uid"},
			`{"node":{"name":"n1","uid":"node-uid"},"pod":{"name":"web","uid":"pod-uid"}}`,
			"node-name=n1 node-uid=node-uid pod-name=web pod-uid=pod-uid", "Pod shop/web"},
		{&auth.BoundObject{APIVersion: "v1", Kind: "Pod", Name: "lost", UID: "lost-uid"},
			`{"node":{"name":"gone"},"pod":{"name":"lost","uid":"lost-uid"}}`,
			"node-name=gone pod-name=lost pod-uid=lost-uid", "Pod shop/lost"},
		{&auth.BoundObject{APIVersion: "v1", Kind: "Node", Name: "n1", UID: "node-uid"},
			`{"node":{"name":"n1","uid":"node-uid"}}`, "node-name=n1 node-uid=node-uid", "Node /n1"},
	} {
		name := fmt.Sprint(row.dies)
		w := someWorld()
		a := newAuthority(t, "ES256", w)
		token := issue(t, a, request(row.bound))
		s, err := parse(token)
		if err != nil {
			t.Fatal(err)
		}
		var whole struct {
			Kubernetes map[string]any `json:"kubernetes.io"`
		}
		if err := json.Unmarshal(s.payload, &whole); err != nil {
			t.Fatal(err)
		}
		delete(whole.Kubernetes, "namespace")
		delete(whole.Kubernetes, "serviceaccount")
		if got, _ := json.Marshal(whole.Kubernetes); string(got) != row.claims {
			t.Errorf("%s: claims %s, want %s", name, got, row.claims)
		}
		identity, err := a.AuthenticateToken(t.Context(), token, nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var extra []string
		for _, key := range []string{"node-name", "node-uid", "pod-name", "pod-uid"} {
			if values := identity.User.Extra["authentication.kubernetes.io/"+key]; values != nil {
				extra = append(extra, key+"="+strings.Join(values, ","))
			}
		}
		if got := strings.Join(extra, " "); got != row.extra {
			t.Errorf("%s: extra %q, want %q", name, got, row.extra)
		}
		if row.dies == "" {
			continue
		}
		bound := w[row.dies]
		delete(w, row.dies)
		if _, err := a.AuthenticateToken(t.Context(), token, nil); !errors.Is(err, errDead) {
			t.Errorf("%s is gone: %v", name, err)
		}
		bound.SetUID("another")
		w[row.dies] = bound
		if _, err := a.AuthenticateToken(t.Context(), token, nil); err == nil || !strings.Contains(err.Error(),
			"another") {
			t.Errorf("another %s: %v", name, err)
		}
	}
}

func TestAccountsDie(t *testing.T) {
	const place = "ServiceAccount shop/robot"
	for name, row := range map[string]struct {
		account metav1.Object
		err     string
	}{
		"there": {&corev1.ServiceAccount{ObjectMeta: meta("robot", "robot-uid")}, ""},
		"gone":  {nil, `serviceaccounts "robot" not found`},
		"another one": {&corev1.ServiceAccount{ObjectMeta: meta("robot", "new")},
			"UID (new) does not match claim (robot-uid)"},
		"just deleted": {&corev1.ServiceAccount{
			ObjectMeta: deletedAt("robot", "robot-uid", start.Add(-59*time.Second))}, ""},
		"deleted for long": {&corev1.ServiceAccount{
			ObjectMeta: deletedAt("robot", "robot-uid", start.Add(-61*time.Second))}, "has been deleted"},
	} {
		w := someWorld()
		a := newAuthority(t, "ES256", w)
		token := issue(t, a, request(nil))
		delete(w, place)
		if row.account != nil {
			w[place] = row.account
		}
		_, err := a.AuthenticateToken(t.Context(), token, nil)
		if (err == nil) != (row.err == "") || err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %v, want %q", name, err, row.err)
		}
	}
}

func TestTimes(t *testing.T) {
	a := newAuthority(t, "ES256", someWorld())
	token := issue(t, a, request(nil))
	for after, want := range map[time.Duration]string{
		0: "", 10 * time.Minute: "", 11 * time.Minute: "", 11*time.Minute + time.Second: "token has expired",
		-time.Minute: "", -61 * time.Second: "not valid yet", 100 * 365 * 24 * time.Hour: "expired",
		-100 * 365 * 24 * time.Hour: "not valid yet",
	} {
		a.now = func() time.Time { return start.Add(after) }
		_, err := a.AuthenticateToken(t.Context(), token, nil)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("after %s: %v, want %q", after, err, want)
		}
	}
}

func TestAudiences(t *testing.T) {
	a := newAuthority(t, "ES256", someWorld())
	for _, row := range []struct {
		token, wanted []string
		want          string
	}{
		{nil, nil, "[api https://shop]"},
		{nil, []string{"https://shop", "x"}, "[https://shop]"},
		{[]string{"x", "api"}, nil, "[api]"},
		{[]string{"x"}, []string{"x"}, "[x]"},
		{[]string{"x"}, nil, `token audiences ["x"] is invalid for the target audiences ["api" "https://shop"]`},
		{nil, []string{"x"}, `token audiences ["api" "https://shop"] is invalid for the target audiences ["x"]`},
		{nil, []string{}, `token audiences ["api" "https://shop"] is invalid for the target audiences []`},
	} {
		r := request(nil)
		r.Audiences = row.token
		identity, err := a.AuthenticateToken(t.Context(), issue(t, a, r), row.wanted)
		got := fmt.Sprint(err)
		if err == nil {
			got = fmt.Sprint(identity.Audiences)
		}
		if got != row.want {
			t.Errorf("%v for %v: %s, want %s", row.token, row.wanted, got, row.want)
		}
	}
}

func TestLifetimes(t *testing.T) {
	pod := &auth.BoundObject{APIVersion: "v1", Kind: "Pod", Name: "web", UID: "pod-uid"}
	for _, row := range []struct {
		seconds   int64
		most      time.Duration
		bound     *auth.BoundObject
		audiences []string
		expires   time.Duration // as the client learns
		lives     time.Duration // the time of exp
		err       string
	}{
		{seconds: 599, err: "600 to 4294967296 seconds, not 599"},
		{seconds: 1<<32 + 1, err: "not 4294967297"},
		{seconds: 600, expires: 600 * time.Second, lives: 600 * time.Second},
		{seconds: 1 << 32, expires: 1 << 32 * time.Second, lives: 1 << 32 * time.Second},
		{seconds: 7200, most: time.Hour, expires: time.Hour, lives: time.Hour},
		{seconds: 3607, bound: pod, expires: 3607 * time.Second, lives: 365 * 24 * time.Hour},
		{seconds: 3607, bound: pod, audiences: []string{"api"}, expires: 3607 * time.Second,
			lives: 365 * 24 * time.Hour},
		{seconds: 3607, bound: pod, audiences: []string{"api", "x"}, expires: 3607 * time.Second,
			lives: 3607 * time.Second},
		{seconds: 3607, expires: 3607 * time.Second, lives: 3607 * time.Second},
		{seconds: 3600, bound: pod, expires: time.Hour, lives: time.Hour},
		{seconds: 3607, most: time.Hour, bound: pod, expires: time.Hour, lives: time.Hour},
	} {
		a := newAuthority(t, "ES256", someWorld())
		a.most = row.most
		r := request(row.bound)
		r.Seconds, r.Audiences = row.seconds, row.audiences
		token, expires, err := a.IssueToken(t.Context(), r)
		if row.err != "" || err != nil {
			if err == nil || row.err == "" || !strings.Contains(err.Error(), row.err) || !apierrors.IsBadRequest(err) {
				t.Errorf("%+v: %v", row, err)
			}
			continue
		}
		s, err := parse(token)
		if err != nil {
			t.Fatal(err)
		}
		var c claims
		if err := decode(s.payload, &c); err != nil {
			t.Fatal(err)
		}
		extended := row.expires != row.lives
		if !expires.Equal(start.Add(row.expires)) || !c.Expires.Equal(start.Add(row.lives)) ||
			extended != (c.Kubernetes.WarnAfter != nil) || extended && !c.Kubernetes.WarnAfter.Equal(expires) {
			t.Errorf("%+v: expires %s, claims %s", row, expires, s.payload)
		}
	}
}

func TestUnknownKindsAreNotBound(t *testing.T) {
	a := newAuthority(t, "ES256", someWorld())
	_, _, err := a.IssueToken(t.Context(), request(&auth.BoundObject{APIVersion: "v1", Kind: "ConfigMap", Name: "c"}))
	if !apierrors.IsBadRequest(err) || err.Error() != "cannot bind token to object of type v1, Kind=ConfigMap" &&
		err.Error() != "cannot bind token to object of type /v1, Kind=ConfigMap" {
		t.Errorf("%v", err)
	}
}

func FuzzTokens(f *testing.F) {
	a := newAuthority(f, "ES256", someWorld())
	good := issue(f, a, request(nil))
	parts := strings.Split(good, ".")
	f.Add(good)
	f.Add(parts[0] + "." + parts[1] + ".")
	f.Add("..")
	f.Add(segment.EncodeToString([]byte(`{"alg":"none","crit":[]}`)) + "." + parts[1] + "." + parts[2])
	f.Add(segment.EncodeToString([]byte(`{}`)) + "." +
		segment.EncodeToString([]byte(`{"iss":"https://shop.example.com","aud":"api","exp":-0.1}`)) + ".AA")
	f.Fuzz(func(t *testing.T, token string) {
		identity, err := a.AuthenticateToken(t.Context(), token, nil)
		if identity != nil && (err != nil || token != good) {
			t.Errorf("%q is accepted: %v", token, err)
		}
	})
}

// FuzzClaims reads signed claims: bad ones are refused without a panic, and what is accepted has its account's name.
func FuzzClaims(f *testing.F) {
	a := newAuthority(f, "ES256", someWorld())
	s, err := parse(issue(f, a, request(nil)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(s.payload)
	f.Add([]byte(`{"iss":"https://shop.example.com","kubernetes.io":{"pod":{}},"aud":["api"]}`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		token, err := a.keys.Load().signing.sign(payload)
		if err != nil {
			t.Fatal(err)
		}
		identity, err := a.AuthenticateToken(t.Context(), token, nil)
		if identity != nil && (err != nil || identity.User.Name != "system:serviceaccount:shop:robot") {
			t.Errorf("%s: %+v, %v", payload, identity.User, err)
		}
	})
}

func BenchmarkAuthenticate(b *testing.B) {
	for _, algorithm := range []string{"RS256", "ES256"} {
		a := newAuthority(b, algorithm, someWorld())
		token := issue(b, a, request(nil))
		b.Run(algorithm, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.AuthenticateToken(b.Context(), token, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
