package delegated

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/internal/host/kubeconfig"
)

// TestHostileCluster: a cluster that redirects the question for the ConfigMap, never ends an answer, hangs, or answers
// something else, changes nothing that is believed, costs bounded bytes and time, and leads the server nowhere else.
func TestHostileCluster(t *testing.T) {
	elsewhere := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed: %s %v", r.URL, r.Header)
	}))
	defer elsewhere.Close()
	var sent atomic.Int64
	for name, how := range map[string]http.HandlerFunc{
		"redirects": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusTemporaryRedirect)
		},
		"500 MB": func(w http.ResponseWriter, _ *http.Request) {
			for chunk := bytes.Repeat([]byte("["), 1<<20); sent.Load() < 500<<20; {
				n, err := w.Write(chunk)
				if sent.Add(int64(n)); err != nil {
					return
				}
			}
		},
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"something else": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"kind":"Secret","items":{"metadata":{"name":"`+configMap+`"}}}`)
		},
		"another ConfigMap": func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"items":[{"metadata":{"name":"other"},"data":{"client-ca-file":"x"}}]}`)
		},
	} {
		server := httptest.NewUnstartedServer(how)
		server.Config.ErrorLog = log.New(io.Discard, "", 0)
		server.StartTLS()
		u, err := url.Parse(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		config := kubeconfig.Config{
			Server: u, CA: kubeconfig.Source{Data: encode(server.Certificate().Raw)}, Token: "secret",
		}
		client, err := config.Client(slog.New(slog.DiscardHandler), 0)
		if err != nil {
			t.Fatal(err)
		}
		log := slog.New(slog.DiscardHandler)
		f := &follower{client: client, server: u, log: log, take: func(data map[string]string) {
			t.Errorf("%s: %v was taken", name, data)
		}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		if name == "hangs" {
			cancel() // what bounds a reading is the context alone
		}
		if _, err := f.list(ctx); (err == nil) != (name == "another ConfigMap") {
			t.Errorf("the list, %s: %v", name, err)
		}
		if err := f.watch(ctx, "1"); err == nil && !strings.Contains("another ConfigMap something else", name) {
			t.Errorf("the watch, %s: no error", name)
		}
		cancel()
		client.CloseIdleConnections()
		server.Close()
	}
	if sent.Load() > 64<<20 {
		t.Errorf("%d bytes were read", sent.Load())
	}
}
