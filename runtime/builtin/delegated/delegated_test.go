package delegated

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// host is a cluster, as far as its guests see it.
type host struct {
	*httptest.Server

	mu      sync.Mutex // guards the following fields
	data    map[string]string
	version int           // of data
	changed chan struct{} // closed at a change
	code    int           // of answers about the ConfigMap; 0 is 200
	queries []string
}

func newHost(t *testing.T, data map[string]string) *host {
	t.Helper()
	h := &host{data: data, changed: make(chan struct{})}
	h.Server = httptest.NewTLSServer(http.HandlerFunc(h.serve))
	t.Cleanup(h.Close)
	return h
}

func (h *host) set(data map[string]string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.data = data
	h.version++
	close(h.changed)
	h.changed = make(chan struct{})
}

func (h *host) serve(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/apis/authentication.k8s.io/v1/tokenreviews":
		_, _ = io.WriteString(w, `{"status":{"authenticated":true,"user":{"username":"of the cluster"}}}`)
	case "/apis/authorization.k8s.io/v1/subjectaccessreviews":
		question, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, `{"status":{"allowed":%t}}`, strings.Contains(string(question), `"user":"alice"`))
	case "/api/v1/namespaces/kube-system/configmaps":
		h.configMaps(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (h *host) configMaps(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	data, version, changed, code := h.data, strconv.Itoa(h.version), h.changed, h.code
	h.queries = append(h.queries, r.URL.RawQuery)
	h.mu.Unlock()
	if code != 0 {
		w.WriteHeader(code)
		_, _ = io.WriteString(w, `{"kind":"Status","message":"it must not"}`)
		return
	}
	if r.URL.Query().Get("watch") == "" {
		items := []any{map[string]any{"metadata": map[string]any{"name": "other"}}}
		if data != nil {
			items = append(items, map[string]any{"metadata": map[string]any{"name": configMap}, "data": data})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"metadata": map[string]any{"resourceVersion": version}, "items": items,
		})
		return
	}
	w.(http.Flusher).Flush()
	if r.URL.Query().Get("resourceVersion") == version { // else there was a change since the list
		select {
		case <-r.Context().Done():
			return
		case <-changed:
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": map[string]any{
		"metadata": map[string]any{"name": configMap}, "data": h.data,
	}})
}

func (h *host) kubeconfig(t *testing.T) string {
	t.Helper()
	content, err := kubeconfig.Login{
		Name: "h", Server: h.URL, CA: encode(h.Certificate().Raw), Token: "guest",
	}.YAML()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func encode(der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// from returns a request of a client with a certificate of the testbed.Authority, in which a proxy would name alice.
func from(t testing.TB, a testbed.Authority, name string) *http.Request {
	t.Helper()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	r.TLS = &tls.ConnectionState{PeerCertificates: []*x509.Certificate{a.Client(t, name)}}
	r.Header.Set("X-Remote-User", "alice")
	return r
}

// published is what kube-apiserver writes.
func published(proxy, clients testbed.Authority) map[string]string {
	return map[string]string{
		"client-ca-file":                     string(clients.PEM()),
		"requestheader-client-ca-file":       string(proxy.PEM()),
		"requestheader-allowed-names":        `["aggregator"]`,
		"requestheader-username-headers":     `["X-Remote-User"]`,
		"requestheader-group-headers":        `["X-Remote-Group"]`,
		"requestheader-extra-headers-prefix": `["X-Remote-Extra-"]`,
	}
}

func configure(t *testing.T, args ...string) (server.Config, error) {
	t.Helper()
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.StringSlice("authorization-mode", nil, "")
	flags.String("client-ca-file", "", "")
	feature := &Feature{}
	feature.AddFlags(flags)
	if err := flags.Parse(args); err != nil {
		t.Fatal(err)
	}
	config := server.Config{Log: slog.New(slog.DiscardHandler)}
	return config, config.Use(t.Context(), feature)
}

// start configures, and runs the hooks until the test ends.
func start(t *testing.T, args ...string) server.Config {
	t.Helper()
	config, err := configure(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, hook := range config.Hooks {
		running.Go(func() { _ = hook.Run(ctx) })
	}
	t.Cleanup(running.Wait)
	t.Cleanup(cancel)
	return config
}

func userOf(config server.Config, r *http.Request) string {
	user, _ := config.Authentication.Authenticate(r.Clone(r.Context()))
	if user == nil {
		return ""
	}
	return user.Name
}

func await(t *testing.T, holds func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for late := time.After(time.Minute); !holds(); {
		select {
		case <-tick.C:
		case <-late:
			t.Fatal("it does not come true")
		}
	}
}

func TestAccess(t *testing.T) {
	proxies, clients, strangers := testbed.NewAuthority(t), testbed.NewAuthority(t), testbed.NewAuthority(t)
	h := newHost(t, published(proxies, clients))
	path := h.kubeconfig(t)
	config := start(t, "--authentication-kubeconfig="+path, "--authorization-kubeconfig="+path)
	bearer := httptest.NewRequest(http.MethodGet, "/", nil)
	bearer.Header.Set("Authorization", "Bearer t")
	for name, test := range map[string]struct {
		r    *http.Request
		want string
	}{
		"aggregator":         {from(t, proxies, "aggregator"), "alice"},
		"another proxy":      {from(t, proxies, "other"), ""},
		"client certificate": {from(t, clients, "bob"), "bob"},
		"stranger":           {from(t, strangers, "aggregator"), ""},
		"token":              {bearer, "of the cluster"},
		"nobody":             {httptest.NewRequest(http.MethodGet, "/", nil), ""},
	} {
		if got := userOf(config, test.r); got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
	for user, want := range map[string]auth.Decision{"alice": auth.Allow, "bob": auth.NoOpinion} {
		got, _, err := config.Authorizer.Authorize(t.Context(),
			auth.Attributes{User: &auth.User{Name: user}, Info: &request.Info{Verb: "get", Path: "/x"}})
		if got != want || err != nil {
			t.Errorf("%s: %v, %v", user, got, err)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := h.queries[0]; got != "fieldSelector=metadata.name%3D"+configMap {
		t.Errorf("asked with %s", got)
	}
}

// A rotated authority is taken, a broken one isn't, and the follower survives an outage.
func TestAuthoritiesAreFollowed(t *testing.T) {
	first, second, third := testbed.NewAuthority(t), testbed.NewAuthority(t), testbed.NewAuthority(t)
	clients := testbed.NewAuthority(t)
	h := newHost(t, published(first, clients))
	config := start(t, "--authentication-kubeconfig="+h.kubeconfig(t))
	believes := func(a testbed.Authority) func() bool {
		r := from(t, a, "aggregator")
		return func() bool { return userOf(config, r) == "alice" }
	}
	old, renewed, last := believes(first), believes(second), believes(third)
	if !old() || renewed() {
		t.Error("at the start")
	}
	h.set(published(second, clients))
	await(t, renewed)
	if old() {
		t.Error("the old authority is believed")
	}
	broken := published(third, clients)
	broken["requestheader-group-headers"] = "{"
	h.set(broken)
	h.mu.Lock()
	h.code = http.StatusInternalServerError
	h.mu.Unlock()
	h.CloseClientConnections()
	if last() || !renewed() {
		t.Error("a broken ConfigMap was taken")
	}
	h.mu.Lock()
	h.code = 0
	h.mu.Unlock()
	h.set(published(third, clients))
	await(t, last)
}

func TestFlags(t *testing.T) {
	proxies, clients := testbed.NewAuthority(t), testbed.NewAuthority(t)
	h := newHost(t, published(proxies, clients))
	path := h.kubeconfig(t)
	t.Setenv("KUBERNETES_SERVICE_HOST", "")
	for _, test := range []struct{ args, err string }{
		{"--authentication-kubeconfig=", "runs in no pod"},
		{"--authorization-kubeconfig=", "--authorization-kubeconfig: the process runs in no pod"},
		{"--authentication-kubeconfig=/none", "--authentication-kubeconfig: kubeconfig: open /none"},
		{"--authorization-mode=RBAC --authorization-kubeconfig=" + path,
			"can not be specified with --authorization-mode"},
		{"--requestheader-client-ca-file=/none --authentication-kubeconfig=" + path, "no such file"},
	} {
		if _, err := configure(t, strings.Fields(test.args)...); err == nil ||
			!strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %v, want %q", test.args, err, test.err)
		}
	}
	alone, err := configure(t)
	if err != nil || alone.Authorizer != nil || len(alone.Hooks) > 0 || alone.Authentication.FrontProxy != nil {
		t.Errorf("without flags: %+v, %v", alone, err)
	}
	if c := start(t, "--authentication-kubeconfig="+path, "--authentication-skip-lookup"); len(c.Hooks) > 0 ||
		userOf(c, from(t, proxies, "aggregator")) != "" {
		t.Error("the authorities were read")
	}
	ca := filepath.Join(t.TempDir(), "ca")
	own := testbed.NewAuthority(t)
	if err := os.WriteFile(ca, own.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := start(t, "--authentication-kubeconfig="+path, "--requestheader-client-ca-file="+ca, "--client-ca-file="+ca)
	for r, want := range map[*http.Request]string{
		from(t, own, "any"): "alice", from(t, proxies, "aggregator"): "", from(t, clients, "bob"): "",
	} {
		if got := userOf(c, r); got != want {
			t.Errorf("%s: %q, want %q", r.TLS.PeerCertificates[0].Subject, got, want)
		}
	}
}

func TestLookupFails(t *testing.T) {
	proxies := testbed.NewAuthority(t)
	h := newHost(t, published(proxies, testbed.NewAuthority(t)))
	h.code = http.StatusForbidden
	args := []string{"--authentication-kubeconfig=" + h.kubeconfig(t)}
	if _, err := configure(t, args...); err == nil || !strings.Contains(err.Error(),
		"it must not: bind the role extension-apiserver-authentication-reader in kube-system") {
		t.Error(err)
	}
	config := start(t, append(args, "--authentication-tolerate-lookup-failure")...)
	r := from(t, proxies, "aggregator")
	if userOf(config, r) != "" {
		t.Error("an unknown proxy is believed")
	}
	h.mu.Lock()
	h.code = 0
	h.mu.Unlock()
	await(t, func() bool { return userOf(config, r) == "alice" })
}

// A ConfigMap is refused, or it names headers and authorities.
func FuzzConfigMap(f *testing.F) {
	ca := testbed.NewAuthority(f)
	f.Add(string(ca.PEM()), `["a"]`, `["X-Remote-User"]`, `["x-"]`)
	f.Add("", "", "", "")
	f.Fuzz(func(t *testing.T, authority, allowed, user, extra string) {
		data := published(ca, ca)
		data["client-ca-file"], data["requestheader-allowed-names"] = authority, allowed
		data["requestheader-username-headers"], data["requestheader-extra-headers-prefix"] = user, extra
		proxy, _, err := parse(data)
		if (proxy == nil) != (err != nil) {
			t.Errorf("%v, %v", proxy, err)
		}
		if proxy == nil {
			return
		}
		for _, prefix := range append(proxy.ExtraPrefixes, proxy.Username...) {
			if strings.TrimSpace(prefix) == "" {
				t.Errorf("%+v", proxy.Headers)
			}
		}
	})
}

// Whatever a cluster sends, the follower returns an error or goes on.
func FuzzEvent(f *testing.F) {
	f.Add([]byte(`{"type":"MODIFIED","object":{"metadata":{"name":"extension-apiserver-authentication"},` +
		`"data":{"a":"b"}}}`))
	f.Add([]byte(`{"type":"ERROR","object":{"kind":"Status","message":"gone"}}`))
	follower := follower{take: func(map[string]string) {}}
	f.Fuzz(func(_ *testing.T, line []byte) { _ = follower.event(line) })
}
