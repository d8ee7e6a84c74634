package builtin_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
)

// library is a server of documents of shop.example.com/v1, which records as whom it was asked for each.
type library struct {
	mu    sync.Mutex // guards asked
	asked map[string]string
	// address is where the index says that the document is; "" is where it is.
	address string
}

func (l *library) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	l.mu.Lock()
	l.asked[r.URL.Path] = r.Header.Get("X-Remote-User") + " " + strings.Join(r.Header["X-Remote-Group"], ",")
	l.mu.Unlock()
	w.Header().Set("Content-Type", "application/json")
	const document = "/openapi/v3/apis/shop.example.com/v1"
	switch r.URL.Path {
	case "/apis/shop.example.com/v1":
		_, _ = io.WriteString(w, `{"kind":"APIResourceList","groupVersion":"shop.example.com/v1","resources":[]}`)
	case "/openapi/v2":
		_, _ = io.WriteString(w, `{"swagger":"2.0","paths":{},"definitions":{}}`)
	case "/openapi/v3":
		address := cmp.Or(l.address, document+"?hash=5")
		_, _ = fmt.Fprintf(w, `{"paths":{"apis/shop.example.com/v1":{"serverRelativeURL":%q}}}`, address)
	case document:
		if hash := r.URL.Query().Get("hash"); hash != "" && hash != "5" {
			http.Redirect(w, r, document+"?hash=5", http.StatusMovedPermanently)
			return
		}
		_, _ = fmt.Fprintf(w, `{"openapi":"3.0.0","for":%q}`, r.Header.Get("X-Remote-User"))
	default:
		http.NotFound(w, r)
	}
}

func (l *library) askedAs(path string) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.asked[path]
}

// startLibrary starts a library behind a server.
func startLibrary(t *testing.T, address string) (*library, *apitest.Server) {
	t.Helper()
	l := &library{asked: map[string]string{}, address: address}
	behind := httptest.NewTLSServer(l)
	t.Cleanup(behind.Close)
	front := startFeatures(t, func(c *server.Config) {
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return behind.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
	until(t, front, http.MethodPost, services, registration("library", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	return l, front
}

// TestDocumentsElsewhere: the server reads documents as kube-aggregator's users, and passes a client's request for an
// OpenAPI v3 document on as the client.
func TestDocumentsElsewhere(t *testing.T) {
	l, front := startLibrary(t, "")
	const document = "/openapi/v3/apis/shop.example.com/v1"
	type paths struct {
		Paths map[string]struct{ ServerRelativeURL string }
	}
	untilObject(t, front, "/openapi/v3", func(index *paths) bool {
		return index.Paths["apis/shop.example.com/v1"].ServerRelativeURL == document+"?hash=5"
	})
	for _, query := range []string{"?hash=5", "", "?hash=4"} { // the client follows the redirect of the last
		got := send[struct{ For string }](t, front, http.MethodGet, document+query, "", http.StatusOK)
		if got.For != "apitest:admin" {
			t.Errorf("%s: the document is for %q", query, got.For)
		}
	}
	for path, user := range map[string]string{
		"/apis": "system:kube-aggregator ", "/openapi/v2": "system:aggregator ",
		"/openapi/v3": "system:aggregator ", document: "apitest:admin system:masters,system:authenticated",
	} {
		if got := l.askedAs(path); got != user {
			t.Errorf("%s was asked for as %q, want %q", path, got, user)
		}
	}
}

// TestDocumentsAtOtherAddresses: a server behind this one can't choose what this one asks it for. One that relays to
// this server would make it read what is not for the client.
func TestDocumentsAtOtherAddresses(t *testing.T) {
	for _, address := range []string{
		"/api/v1/secrets?hash=6", "https://127.0.0.1:1/api/v1/secrets?hash=6", "//127.0.0.1:1/api/v1/secrets?hash=6",
		"/openapi/v3/apis/shop.example.com/v1/../../../../../api/v1/secrets?hash=6",
	} {
		l, front := startLibrary(t, address)
		const document = "/openapi/v3/apis/shop.example.com/v1"
		untilObject(t, front, "/openapi/v3", func(index *struct {
			Paths map[string]struct{ ServerRelativeURL string }
		}) bool {
			return index.Paths["apis/shop.example.com/v1"].ServerRelativeURL == document+"?hash=6"
		})
		until(t, front, http.MethodGet, "/openapi/v2", "", http.StatusOK)
		l.mu.Lock()
		for path, user := range l.asked {
			if strings.Contains(path, "secrets") {
				t.Errorf("%s: %s was asked for as %s", address, path, user)
			}
			if strings.HasPrefix(user, "system:") && strings.Contains(user, auth.Masters) &&
				path != "/apis/shop.example.com/v1" { // the check of availability, whose body nobody reads
				t.Errorf("%s was asked for as %s", path, user)
			}
		}
		l.mu.Unlock()
	}
}
