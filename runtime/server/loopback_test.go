package server

import (
	"apigen.dev/runtime/internal/host/kubeconfig"

	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
)

// loopbackOf starts a server with a hook, and returns its loopback.
func loopbackOf(t *testing.T) (*hooked, *Loopback) {
	t.Helper()
	found := make(chan *Loopback, 1)
	h := startHooked(t, Config{}, Hook{Name: "a", PostStart: func(ctx context.Context) error {
		found <- LoopbackFrom(ctx)
		return nil
	}})
	return h, <-found
}

// The transport of the loopback makes every request that of the system's user, whatever its headers say, and passes
// all filters.
func TestLoopbackTransport(t *testing.T) {
	h, l := loopbackOf(t)
	ask := func(path string, header http.Header) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.Host+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header = header
		response, err := l.Transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		content, err := io.ReadAll(response.Body)
		if err != nil {
			t.Error(err)
		}
		return response.StatusCode, string(content)
	}
	const list = "/apis/shop.example.com/v1/widgets"
	for _, header := range []http.Header{
		nil, {"Authorization": {"Bearer wrong"}}, {"X-Remote-User": {"nobody"}},
	} {
		if code, body := ask(list, header); code != http.StatusOK {
			t.Errorf("%v: %d %s", header, code, body)
		}
	}
	if code, body := ask(list, http.Header{"Impersonate-User": {"ann"}}); code != http.StatusForbidden ||
		!strings.Contains(body, `User \"ann\" cannot list`) {
		t.Errorf("as another user: %d %s", code, body)
	}
	if _, body := ask("/metrics", nil); !strings.Contains(body, `apiserver_request_total{`) {
		t.Error("the requests were not observed")
	}
	h.end(t)
}

// A watch through the loopback delivers each event at once, and ends with the client's request.
func TestLoopbackWatch(t *testing.T) {
	h, l := loopbackOf(t)
	ctx, leave := context.WithCancel(t.Context())
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, l.Host+"/apis/shop.example.com/v1/widgets?watch=1",
		http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	response, err := l.Transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	events := bufio.NewReader(response.Body)
	for _, name := range []string{"one", "two"} {
		code, body := h.ask(t, http.MethodPost, "/apis/shop.example.com/v1/namespaces/x/widgets",
			strings.NewReader(`{"metadata":{"name":"`+name+`"}}`))
		if code != http.StatusCreated {
			t.Fatalf("%d %s", code, body)
		}
		line, err := events.ReadString('\n')
		if err != nil || !strings.Contains(line, `"ADDED"`) || !strings.Contains(line, name) {
			t.Errorf("event %s, %v", line, err)
		}
	}
	leave()
	if _, err := events.ReadString('\n'); !errors.Is(err, context.Canceled) {
		t.Errorf("after the client left: %v", err)
	}
	h.end(t) // no request is under way
}

// tlsClient returns a client that trusts what the kubeconfig trusts, and the server's certificate otherwise.
func tlsClient(t *testing.T, h *hooked, file *kubeconfig.Config) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if file.ServerName == "" {
		leaf, err := x509.ParseCertificate(h.config.Certificate.Certificate[0])
		if err != nil {
			t.Fatal(err)
		}
		roots.AddCert(leaf)
	} else if !roots.AppendCertsFromPEM(file.CA.Data) {
		t.Fatal("the kubeconfig has no certificate")
	}
	transport := &http.Transport{ForceAttemptHTTP2: true, TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: file.ServerName, MinVersion: tls.VersionTLS12}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// The kubeconfig of the loopback works over the network, and nobody without it has its rights.
func TestLoopbackKubeconfig(t *testing.T) {
	h, l := loopbackOf(t)
	ask := func(client *http.Client, token string) (int, error) {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, l.Host+"/apis/shop.example.com/v1/widgets",
			http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		response, err := client.Do(r)
		if err != nil {
			return 0, err
		}
		return response.StatusCode, response.Body.Close()
	}
	others := tlsClient(t, h, &kubeconfig.Config{})
	for _, token := range []string{"", "wrong"} {
		if code, err := ask(others, token); code != http.StatusUnauthorized || err != nil {
			t.Errorf("token %q before the kubeconfig was made: %d, %v", token, code, err)
		}
	}
	content, err := l.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := l.Kubeconfig(); err != nil || string(again) != string(content) {
		t.Errorf("a second kubeconfig: %v\n%s", err, again)
	}
	file, err := kubeconfig.Parse(content, "")
	if err != nil {
		t.Fatal(err)
	}
	token := file.Token
	if code, err := ask(tlsClient(t, h, file), token); code != http.StatusOK || err != nil {
		t.Errorf("the kubeconfig: %d, %v", code, err)
	}
	for _, wrong := range []string{"", "wrong", token[1:], token + "x", strings.ToLower(token)} {
		if code, err := ask(others, wrong); code != http.StatusUnauthorized || err != nil {
			t.Errorf("token %q: %d, %v", wrong, code, err)
		}
	}
	if code, err := ask(others, token); code != http.StatusOK || err != nil {
		t.Errorf("the token over the server's own certificate: %d, %v", code, err)
	}
	h.end(t)
}

// Requests over the network reach no loopback, and contexts of handlers don't carry the mark of its requests.
func TestLoopbackStaysInside(t *testing.T) {
	h, _ := loopbackOf(t)
	base := h.http.BaseContext(nil)
	if LoopbackFrom(base) != nil || base.Value(internalKey{}) != nil {
		t.Error("every request has the rights of hooks")
	}
	h.end(t)
}
