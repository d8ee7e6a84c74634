package oidc

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"github.com/go-jose/go-jose/v4"
)

// testIssuer is an OpenID Connect provider for tests.
type testIssuer struct {
	*httptest.Server
	mu       sync.Mutex
	keys     []jose.JSONWebKey // published
	requests map[string]int    // by path
	answer   http.HandlerFunc  // in place of the keys
	named    string            // the issuer in the discovery document
}

func newTestIssuer(t testing.TB) *testIssuer {
	t.Helper()
	i := &testIssuer{requests: map[string]int{}}
	i.Server = httptest.NewTLSServer(http.HandlerFunc(i.serve))
	i.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(i.Close)
	i.named = i.URL
	return i
}

func (i *testIssuer) serve(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.requests[r.URL.Path]++
	switch r.URL.Path {
	case "/.well-known/openid-configuration", "/moved":
		_ = json.NewEncoder(w).Encode(map[string]any{"issuer": i.named, "jwks_uri": i.URL + "/keys"})
	case "/keys":
		if i.answer != nil {
			i.answer(w, r)
			return
		}
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: i.keys})
	default:
		http.NotFound(w, r)
	}
}

// set changes what the issuer answers.
func (i *testIssuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

func (i *testIssuer) asked(path string) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.requests[path]
}

// ca is the certificate of the issuer in PEM.
func (i *testIssuer) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.Certificate().Raw}))
}

// testKey is a private key with the algorithm that it is for.
type testKey struct {
	id        string
	algorithm jose.SignatureAlgorithm
	private   crypto.Signer
}

var testKeys = func() map[string]testKey {
	first, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err)
	}
	second, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	return map[string]testKey{"first": {"first", jose.RS256, first}, "second": {"second", jose.ES256, second}}
}()

func (k testKey) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: k.private.Public(), KeyID: k.id, Algorithm: string(k.algorithm), Use: "sig"}
}

// sign signs claims, to which it adds the issuer, the audience and the expiry that they lack.
func (k testKey) sign(t testing.TB, issuer string, more map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": issuer, "aud": "shop", "sub": "joe", "exp": time.Now().Add(time.Hour).Unix()}
	for name, value := range more {
		if all[name] = value; value == nil {
			delete(all, name)
		}
	}
	payload, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return k.signText(t, string(payload))
}

func (k testKey) signText(t testing.TB, payload string) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: k.algorithm, Key: jose.JSONWebKey{Key: k.private,
		KeyID: k.id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := signer.Sign([]byte(payload))
	if err != nil {
		t.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// plain is a configuration of an issuer with the user's name in sub.
func (i *testIssuer) plain() JWT {
	none := ""
	return JWT{Issuer: Issuer{URL: i.URL, CertificateAuthority: i.ca(), Audiences: []string{"shop"}},
		ClaimMappings: Mappings{Username: PrefixedClaim{Claim: "sub", Prefix: &none}}}
}

func newFor(t testing.TB, all ...JWT) issuers {
	t.Helper()
	compiled, faults := validate(&Configuration{JWT: all}, nil)
	if len(faults) > 0 {
		t.Fatal(faults.ToAggregate())
	}
	return newIssuers(compiled, allAlgorithms, nil)
}

// inServer is the context of a request to a server with an audience.
func inServer(ctx context.Context) context.Context {
	return auth.WithAccess(ctx, &auth.Access{Audiences: []string{"api"}})
}

func authenticate(t testing.TB, is issuers, token string) (string, error) {
	t.Helper()
	identity, err := is.AuthenticateToken(inServer(t.Context()), token, nil)
	if err != nil || identity == nil {
		return "", err
	}
	u := identity.User
	return fmt.Sprintf("%s uid=%s groups=%s extra=%v", u.Name, u.UID, strings.Join(u.Groups, ","), u.Extra), nil
}

// clock is the clock of a provider, which stands unless it jumps.
type clock struct{ now atomic.Pointer[time.Time] }

func newClock(p *provider) *clock {
	c, now := &clock{}, time.Now()
	c.now.Store(&now)
	p.now = func() time.Time { return *c.now.Load() }
	return c
}

func (c *clock) jump(by time.Duration) {
	later := c.now.Load().Add(by)
	c.now.Store(&later)
}

func TestTokens(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public(), testKeys["second"].public()}
	is := newFor(t, i.plain())
	first := testKeys["first"]
	now := time.Now().Unix()
	for name, row := range map[string]struct {
		token, want, err string // neither is another's token
	}{
		"RS256": {token: first.sign(t, i.URL, nil), want: "joe uid="},
		"ES256": {token: testKeys["second"].sign(t, i.URL, nil), want: "joe uid="},
		"several audiences": {token: first.sign(t, i.URL, map[string]any{"aud": []string{"x", "shop"}}),
			want: "joe uid="},
		"another issuer": {token: first.sign(t, "https://x", nil)},
		"no token":       {token: "abc"},
		"huge":           {token: first.sign(t, i.URL, nil) + strings.Repeat("A", maxToken)},
		"another audience": {token: first.sign(t, i.URL, map[string]any{"aud": "x"}),
			err: `expected audience in ["shop"]`},
		"no audience":   {token: first.sign(t, i.URL, map[string]any{"aud": nil}), err: "expected audience"},
		"expired":       {token: first.sign(t, i.URL, map[string]any{"exp": now - 1}), err: "expired"},
		"no expiry":     {token: first.sign(t, i.URL, map[string]any{"exp": nil}), err: "expired"},
		"not yet valid": {token: first.sign(t, i.URL, map[string]any{"nbf": now + 600}), err: "before the nbf"},
		"no subject": {token: first.sign(t, i.URL, map[string]any{"sub": nil}),
			err: `username claims "sub": claim not present`},
		"an empty subject":    {token: first.sign(t, i.URL, map[string]any{"sub": ""}), err: "it is empty"},
		"a subject of digits": {token: first.sign(t, i.URL, map[string]any{"sub": 7}), err: "cannot unmarshal number"},
		"a claim " +
			"twice": {token: first.signText(t, fmt.Sprintf(`{"iss":%q,"aud":"shop","sub":"joe","sub":"root","exp":%d}`,
			i.URL, now+60)), err: "duplicate field"},
		"algorithm none": {token: unsigned(first.sign(t, i.URL, nil), `{"alg":"none"}`, ""), err: "none"},
		"a shared secret": {token: unsigned(first.sign(t, i.URL, nil), `{"alg":"HS256","kid":"first"}`, "x"),
			err: "HS256"},
		"critical": {token: unsigned(first.sign(t, i.URL, nil), `{"alg":"RS256","crit":["b64"],"b64":false}`, "x"),
			err: "verify"},
		"another key's id": {token: testKey{"first", jose.ES256, testKeys["second"].private}.sign(t, i.URL, nil),
			err: "verify"},
		"an unknown key": {token: testKey{"third", jose.ES256, testKeys["second"].private}.sign(t, i.URL, nil),
			err: "verify"},
	} {
		got, err := authenticate(t, is, row.token)
		if !strings.HasPrefix(got, row.want) || row.want == "" && got != "" || (err == nil) != (row.err == "") ||
			err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("%s: %q, %v, want %q %q", name, got, err, row.want, row.err)
		}
	}
}

// unsigned replaces the header and the signature of a token.
func unsigned(token, header, signature string) string {
	parts := strings.Split(token, ".")
	return encode(header) + "." + parts[1] + "." + encode(signature)
}

func TestAudiencesOfTheServer(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	is := newFor(t, i.plain())
	token := testKeys["first"].sign(t, i.URL, nil)
	for want, audiences := range map[string][]string{"[api]": nil, "[api] ": {"x", "api"}, "none": {"x"}} {
		identity, err := is.AuthenticateToken(inServer(t.Context()), token, audiences)
		got := "none"
		if identity != nil {
			got = fmt.Sprint(identity.Audiences)
		}
		if err != nil || got != strings.TrimSpace(want) {
			t.Errorf("for %v: %s, %v, want %s", audiences, got, err, want)
		}
	}
}

// Keys are cached, read again for an unknown one, at most every five seconds, and forgotten when the issuer withdraws
// them. What the issuer answers wrong changes nothing.
func TestKeysRotate(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	is := newFor(t, i.plain())
	p := is[i.URL].provider
	clock := newClock(p)
	first, second := testKeys["first"].sign(t, i.URL, nil), testKeys["second"].sign(t, i.URL, nil)
	check := func(when, token, err string, reads int) {
		t.Helper()
		got, failure := authenticate(t, is, token)
		if (err == "") != (failure == nil) || failure != nil && !strings.Contains(failure.Error(), err) {
			t.Errorf("%s: %q, %v, want %q", when, got, failure, err)
		}
		if i.asked("/keys") != reads {
			t.Errorf("%s: the keys were read %d times, want %d", when, i.asked("/keys"), reads)
		}
	}
	check("at first", first, "", 1)
	check("from the cache", first, "", 1)
	check("an unknown key, too early", second, "failed to verify", 1)
	clock.jump(between)
	check("an unknown key", second, "failed to verify", 2)
	i.set(func() { i.keys = append(i.keys, testKeys["second"].public()) })
	check("a new key, too early", second, "failed to verify", 2)
	clock.jump(between)
	check("a new key", second, "", 3)
	check("the old key", first, "", 3)
	away := func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusServiceUnavailable) }
	i.set(func() { i.answer = away })
	clock.jump(2 * stale)
	if _, err := p.read(t.Context()); err != nil {
		t.Errorf("the known keys don't stay: %v", err)
	}
	check("the keys have vanished", first, "", 4)
	for _, wrong := range []string{"{}", "nonsense", `{"keys":null}`, `{"keys":[` + strings.Repeat(" ", maxDocument) +
		"]}"} {
		i.set(func() { i.answer = func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, wrong) } })
		clock.jump(lastPause)
		if _, err := p.read(t.Context()); err != nil || p.err == nil {
			t.Errorf("%.20q: %v, %v", wrong, err, p.err)
		}
	}
	i.set(func() { i.answer, i.keys = nil, []jose.JSONWebKey{testKeys["second"].public()} })
	clock.jump(lastPause)
	if _, err := p.read(t.Context()); err != nil {
		t.Error(err)
	}
	check("a withdrawn key", first, "failed to verify", 9)
	check("the new key", second, "", 9)
}

// A clock that jumps back makes a server ask the issuer neither too often nor never again.
func TestClocksJump(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	is := newFor(t, i.plain())
	clock := newClock(is[i.URL].provider)
	token := testKeys["first"].sign(t, i.URL, nil)
	for _, row := range []struct {
		jump time.Duration
		err  string
	}{{0, ""}, {2 * time.Hour, "expired"}, {-4 * time.Hour, ""}, {2 * time.Hour, ""}} {
		clock.jump(row.jump)
		if _, err := authenticate(t, is, token); (err == nil) != (row.err == "") ||
			err != nil && !strings.Contains(err.Error(), row.err) {
			t.Errorf("after a jump of %s: %v", row.jump, err)
		}
	}
}

// An issuer that isn't there at first is asked again, after pauses that grow.
func TestIssuersComeLater(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	i.named = "https://another.example.com"
	is := newFor(t, i.plain())
	clock := newClock(is[i.URL].provider)
	token := testKeys["first"].sign(t, i.URL, nil)
	const document = "/.well-known/openid-configuration"
	if err := is.warm(t.Context()); err == nil || !strings.Contains(err.Error(), "did not match") {
		t.Errorf("at the start: %v", err)
	}
	for n, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		clock.jump(pause - time.Millisecond)
		if _, err := authenticate(t, is, token); err == nil || i.asked(document) != n+1 {
			t.Errorf("too early: %v, asked %d times", err, i.asked(document))
		}
		clock.jump(time.Millisecond)
		if _, err := authenticate(t, is, token); err == nil || i.asked(document) != n+2 {
			t.Errorf("again: %v, asked %d times", err, i.asked(document))
		}
	}
	i.set(func() { i.named = i.URL })
	clock.jump(lastPause)
	if _, err := authenticate(t, is, token); err != nil {
		t.Error(err)
	}
}

func TestDiscoveryURL(t *testing.T) {
	i := newTestIssuer(t)
	i.keys = []jose.JSONWebKey{testKeys["first"].public()}
	jwt := i.plain()
	moved := i.URL + "/moved"
	jwt.Issuer.URL, jwt.Issuer.DiscoveryURL = "https://elsewhere.example.com", &moved
	i.named = jwt.Issuer.URL
	is := newFor(t, jwt)
	if got, err := authenticate(t, is, testKeys["first"].sign(t, jwt.Issuer.URL, nil)); err != nil || got == "" {
		t.Errorf("%q, %v", got, err)
	}
}

// The authorities of the issuer's certificate are those of the configuration.
func TestUntrustedIssuers(t *testing.T) {
	i := newTestIssuer(t)
	jwt := i.plain()
	jwt.Issuer.CertificateAuthority = ""
	_, err := authenticate(t, newFor(t, jwt), testKeys["first"].sign(t, i.URL, nil))
	if err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Error(err)
	}
}

// Requests that wait for an issuer that hangs end with their contexts.
func TestIssuersHang(t *testing.T) {
	i := newTestIssuer(t)
	release := make(chan struct{})
	i.Config.Handler = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release })
	defer close(release)
	is := newFor(t, i.plain())
	ctx, cancel := context.WithCancel(inServer(t.Context()))
	ended := make(chan error, 1)
	go func() {
		_, err := is.AuthenticateToken(ctx, testKeys["first"].sign(t, i.URL, nil), nil)
		ended <- err
	}()
	cancel()
	if err := <-ended; err == nil {
		t.Error("the token is valid")
	}
}
