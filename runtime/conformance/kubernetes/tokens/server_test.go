package tokens

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/serviceaccount"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/memory"
	"github.com/spf13/pflag"
)

// running is a server in this process.
type running struct {
	url    string
	client *http.Client
}

// start runs a server with features, whose flags are args.
func start(t *testing.T, features []server.Feature, config server.Config, args ...string) *running {
	t.Helper()
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	for _, feature := range features {
		feature.AddFlags(flags)
	}
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	identity := httptest.NewTLSServer(nil) // whose certificate the server borrows
	t.Cleanup(identity.Close)
	backend := memory.New()
	config.Backend, config.Listener, config.Certificate = backend, listener, identity.TLS.Certificates[0]
	config.Log, config.DataDir = slog.New(slog.DiscardHandler), t.TempDir()
	for _, feature := range features {
		config.Groups = append(config.Groups, feature.Groups()...)
		if err := config.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}
	s, err := server.New(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		_ = backend.Close()
	})
	return &running{s.URL(), identity.Client()}
}

// ask sends a request with a bearer token.
func (s *running) ask(t *testing.T, method, path, token, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	response, err := s.client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(answer)
}

// administrator has one token of a fixed set.
func administrator() server.Config {
	tokens := new(auth.Tokens)
	tokens.Add("admin", &auth.User{Name: "admin", Groups: []string{auth.Masters}})
	return server.Config{Contribution: server.Contribution{
		Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}},
	}}
}

// A server signs tokens of its service accounts, which die with the account or with the Secret to which they are bound.
func TestServiceAccountsOfAServer(t *testing.T) {
	s := start(t, []server.Feature{&core.Feature{}, new(serviceaccount.Feature)}, administrator())
	must := func(method, path, body string, code int) string {
		t.Helper()
		got, answer := s.ask(t, method, path, "admin", body)
		if got != code {
			t.Fatalf("%s %s: %d %s", method, path, got, answer)
		}
		return answer
	}
	const accounts, secrets = "/api/v1/namespaces/shop/serviceaccounts", "/api/v1/namespaces/shop/secrets"
	must("POST", accounts, `{"metadata":{"name":"robot"}}`, 201)
	must("POST", secrets, `{"metadata":{"name":"s"}}`, 201)
	token := func(spec string) string {
		t.Helper()
		var answer struct {
			Status struct{ Token string }
		}
		text := must("POST", accounts+"/robot/token", `{"spec":{`+spec+`}}`, 201)
		if err := json.Unmarshal([]byte(text), &answer); err != nil || answer.Status.Token == "" {
			t.Fatalf("%s: %v", text, err)
		}
		return answer.Status.Token
	}
	expect := func(what, token string, code int) {
		t.Helper()
		if got, body := s.ask(t, "GET", "/version", token, ""); got != code ||
			code == http.StatusUnauthorized && strings.TrimSpace(body) != unauthorized {
			t.Errorf("%s: %d %s, want %d", what, got, body, code)
		}
	}
	const bound = `"boundObjectRef":{"apiVersion":"v1","kind":"Secret","name":"s"}`
	expect("a token", token(``), 200)
	expect("one for another audience", token(`"audiences":["x"]`), 401)
	expect("a bound one", token(bound), 200)
	free, old, onSecret := token(``), token(``),
		token(bound) // which the server has not seen, so that no cache has them
	must("DELETE", secrets+"/s", "", 200)
	expect("the Secret is gone", onSecret, 401)
	must("DELETE", accounts+"/robot", "", 200)
	expect("the account is gone", free, 401)
	must("POST", accounts, `{"metadata":{"name":"robot"}}`, 201)
	expect("there is another account of the name", old, 401)
	expect("the new account of the name", token(``), 200)
}

// Who may read the documents about keys is the authorizer's decision.
func TestDocumentsOfAServer(t *testing.T) {
	s := start(t, []server.Feature{&core.Feature{}, new(serviceaccount.Feature)}, administrator())
	for _, path := range []string{"/.well-known/openid-configuration", "/openid/v1/jwks"} {
		if code, body := s.ask(t, "GET", path, "admin", ""); code != 200 || !strings.HasPrefix(body, "{") {
			t.Errorf("%s: %d %s", path, code, body)
		}
		if code, _ := s.ask(t, "GET", path, "", ""); code != http.StatusUnauthorized {
			t.Errorf("%s without credentials: %d", path, code)
		}
		if code, _ := s.ask(t, "POST", path, "admin", "{}"); code != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, code)
		}
	}
	if _, body := s.ask(t, "GET", "/", "admin", ""); !strings.Contains(body, `"/openid/v1/jwks"`) {
		t.Errorf("the index: %s", body)
	}
}
