package tokens

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/builtin/oidc"
	"apigen.dev/runtime/server"
	"github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/example/server/exampleop"
	"github.com/zitadel/oidc/v3/example/server/storage"
	"github.com/zitadel/oidc/v3/pkg/op"
)

const (
	client   = "shop"
	redirect = "http://localhost:9999/auth/callback"
)

// signingKey is a key of the provider, private or public as its user wants it.
type signingKey struct {
	id      string
	private *rsa.PrivateKey
}

func newSigningKey(t *testing.T, id string) signingKey {
	t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return signingKey{id, private}
}

func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }

func (k signingKey) Key() any { return k.private }

func (k signingKey) ID() string { return k.id }

type publicKey struct{ signingKey }

func (k publicKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }

func (k publicKey) Use() string { return "sig" }

func (k publicKey) Key() any { return &k.private.PublicKey }

// rotating is the provider's storage with keys that change.
type rotating struct {
	*storage.Storage
	mu        sync.Mutex
	signing   signingKey
	published []op.Key
}

func (r *rotating) SigningKey(context.Context) (op.SigningKey, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.signing, nil
}

func (r *rotating) KeySet(context.Context) ([]op.Key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.published, nil
}

// rotate changes the key that signs, and the keys that are published.
func (r *rotating) rotate(signing signingKey, published ...signingKey) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signing, r.published = signing, nil
	for _, k := range published {
		r.published = append(r.published, publicKey{k})
	}
}

// provider is a real OpenID Connect provider in this process.
type provider struct {
	*httptest.Server
	*rotating
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{Server: httptest.NewUnstartedServer(nil)}
	p.StartTLS()
	t.Cleanup(p.Close)
	users := storage.NewUserStore(p.URL)
	storage.RegisterClients(storage.WebClient(client, "secret", redirect))
	p.rotating = &rotating{Storage: storage.NewStorage(users)}
	key := newSigningKey(t, "first")
	p.rotate(key, key)
	p.Config.Handler = exampleop.SetupServer(p.URL, p.rotating, slog.New(slog.DiscardHandler), false)
	return p
}

func (p *provider) ca() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw}))
}

// logIn logs a user in, as a browser would, and returns the ID token.
func (p *provider) logIn(t *testing.T) string {
	t.Helper()
	browser := *p.Client()
	browser.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	follow := func(response *http.Response, err error) *url.URL {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		to, err := response.Location()
		if err != nil {
			body, _ := io.ReadAll(response.Body)
			t.Fatalf("%s: %s %s: %v", response.Request.URL, response.Status, body, err)
		}
		return to
	}
	query := url.Values{"client_id": {client}, "redirect_uri": {redirect}, "response_type": {"id_token"},
		"scope": {"openid profile email"}, "nonce": {"n"}}
	login := follow(browser.Get(p.URL + "/auth?" + query.Encode()))
	callback := follow(browser.PostForm(p.URL+login.Path, url.Values{
		"id": {login.Query().Get("authRequestID")}, "username": {"test-user@127.0.0.1"}, "password": {"verysecure"}}))
	back := follow(browser.Get(callback.String()))
	answer, err := url.ParseQuery(back.Fragment)
	if err != nil || answer.Get("id_token") == "" {
		t.Fatalf("%s: %v", back, err)
	}
	return answer.Get("id_token")
}

// signed is a token that the provider's key signs, with the claims of a valid one but for changes.
func signed(t *testing.T, key signingKey, valid string, changes map[string]any) string {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(valid, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var claims map[string]any
	if err := json.Unmarshal(payload, &claims); err != nil {
		t.Fatal(err)
	}
	for name, value := range changes {
		claims[name] = value
	}
	if payload, err = json.Marshal(claims); err != nil {
		t.Fatal(err)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: key.private,
		KeyID: key.id}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	token, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return token
}

// serve runs a server with a configuration of authentication, and returns what it answers to a token.
func serve(t *testing.T, configuration string) func(token string) (code int, body string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config")
	if err := os.WriteFile(path, []byte(configuration), 0o600); err != nil {
		t.Fatal(err)
	}
	audience := server.Contribution{Audiences: []string{"api"}}
	s := start(t, []server.Feature{new(oidc.Feature)}, server.Config{Contribution: audience},
		"--authentication-config="+path)
	return func(token string) (int, string) {
		t.Helper()
		return s.ask(t, http.MethodGet, "/version", token, "")
	}
}

func (p *provider) configuration() string {
	return `apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer:
    url: ` + p.URL + `
    audiences: [` + client + `]
    certificateAuthority: |
      ` + strings.ReplaceAll(strings.TrimSpace(p.ca()), "\n", "\n      ") + `
  claimMappings:
    username: {claim: sub, prefix: "zitadel:"}
  userValidationRules:
  - {expression: "user.username == 'zitadel:id1'", message: only the test's user}
`
}

// unauthorized is all that a client learns about a token that is refused, in kube-apiserver's words.
const unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized",` +
	`"reason":"Unauthorized","code":401}`

func TestProvider(t *testing.T) {
	p := newProvider(t)
	ask := serve(t, p.configuration())
	good := p.logIn(t)
	if code, body := ask(good); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	key, parts, now := p.signing, strings.Split(good, "."), time.Now().Unix()
	encode := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	for name, token := range map[string]string{
		"expired":          signed(t, key, good, map[string]any{"exp": now - 1}),
		"not yet valid":    signed(t, key, good, map[string]any{"nbf": now + 600}),
		"another audience": signed(t, key, good, map[string]any{"aud": "another"}),
		"another issuer":   signed(t, key, good, map[string]any{"iss": "https://another.example.com"}),
		"another user":     signed(t, key, good, map[string]any{"sub": "id2"}),
		"algorithm none":   encode(`{"alg":"none"}`) + "." + parts[1] + ".",
		"a confused key":   encode(`{"alg":"HS256","kid":"first"}`) + "." + parts[1] + "." + parts[2],
		"another key":      signed(t, newSigningKey(t, "first"), good, nil),
		"an unknown key":   signed(t, newSigningKey(t, "unknown"), good, nil),
		"cut":              good[:len(good)-8],
	} {
		if code, body := ask(token); code != http.StatusUnauthorized || strings.TrimSpace(body) != unauthorized {
			t.Errorf("%s: %d %s", name, code, body)
		}
	}
	if code, body := ask(signed(t, key, good, nil)); code != http.StatusOK {
		t.Errorf("signed by the same key: %d %s", code, body)
	}
}

// A provider rotates its keys while a server runs, and withdraws the old one; at last it vanishes.
func TestProviderRotates(t *testing.T) {
	p := newProvider(t)
	ask := serve(t, p.configuration())
	first := p.logIn(t)
	if code, body := ask(first); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	old, next := p.signing, newSigningKey(t, "second")
	p.rotate(next, old, next)
	second := p.logIn(t)
	eventually(t, "the new key signs", func() bool { code, _ := ask(second); return code == http.StatusOK })
	if code, body := ask(signed(t, old, first, map[string]any{"nonce": "old"})); code != http.StatusOK {
		t.Errorf("the old key: %d %s", code, body)
	}
	p.rotate(next, next)
	third := newSigningKey(t, "third")
	eventually(t, "the old key is withdrawn", func() bool {
		_, _ = ask(signed(t, third, second, nil)) // an unknown key, for which the keys are read again
		code, _ := ask(signed(t, old, first, map[string]any{"nonce": rand.Text()}))
		return code == http.StatusUnauthorized
	})
	p.CloseClientConnections()
	p.Close()
	if code, body := ask(signed(t, next, second, map[string]any{"nonce": "gone"})); code != http.StatusOK {
		t.Errorf("the provider is gone: %d %s", code, body)
	}
}

// A server starts without its provider, whose tokens it accepts once the provider is there.
func TestProviderComesLater(t *testing.T) {
	p := newProvider(t)
	handler := p.Config.Handler
	var mu sync.Mutex
	there := false
	p.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		if !there {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		handler.ServeHTTP(w, r)
	})
	ask := serve(t, p.configuration())
	claims := encodeClaims(t, p)
	if code, _ := ask(claims); code != http.StatusUnauthorized {
		t.Errorf("without the provider: %d", code)
	}
	mu.Lock()
	there = true
	mu.Unlock()
	good := p.logIn(t)
	eventually(t, "the provider is there", func() bool { code, _ := ask(good); return code == http.StatusOK })
}

// encodeClaims is a token of the provider that it didn't make itself.
func encodeClaims(t *testing.T, p *provider) string {
	t.Helper()
	payload, err := json.Marshal(map[string]any{"iss": p.URL, "aud": client, "sub": "id1", "exp": time.Now().Unix() +
		60})
	if err != nil {
		t.Fatal(err)
	}
	return signed(t, p.signing, "."+base64.RawURLEncoding.EncodeToString(payload)+".", nil)
}

// eventually waits until a condition holds.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for end := time.After(time.Minute); !holds(); {
		select {
		case <-ticker.C:
		case <-end:
			t.Fatalf("it doesn't come true: %s", what)
		}
	}
}
