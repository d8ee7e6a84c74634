package backend

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
)

// hook is a webhook on a server with a handler, whose requests take at most timeout.
func hook(t *testing.T, timeout time.Duration, handler http.HandlerFunc) Webhook {
	t.Helper()
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return Webhook{Client: s.Client(), URL: s.URL, Timeout: timeout}
}

func lines(t *testing.T, w Webhook, ids ...string) [][]byte {
	t.Helper()
	var all [][]byte
	for _, id := range ids {
		line, err := w.Append(nil, event(id))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

func TestWebhook(t *testing.T) {
	var got trail.EventList
	w := hook(t, 0, func(_ http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s, %v", r.Method, r.Header)
		}
		if err := json.NewDecoder(r.Body).Decode(&got); err != nil {
			t.Error(err)
		}
	})
	if err := w.Deliver(t.Context(), lines(t, w, "a", "b")); err != nil {
		t.Fatal(err)
	}
	if got.Kind != "EventList" || got.APIVersion != "audit.k8s.io/v1" || len(got.Items) != 2 ||
		got.Items[1].AuditID != "b" || got.Items[0].Kind != "" {
		t.Errorf("%+v", got)
	}
}

// TestBadWebhooks: a server that fails, hangs, resets or never ends its answer costs a bounded time, and an error.
func TestBadWebhooks(t *testing.T) {
	const short = 50 * time.Millisecond
	for name, handler := range map[string]http.HandlerFunc{
		"500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"302": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) },
		"hangs": func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client has gone
			<-r.Context().Done()
			panic(http.ErrAbortHandler) // an answer could reach a client that is about to give up
		},
		"resets": func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			if tcp, ok := conn.(*net.TCPConn); ok {
				_ = tcp.SetLinger(0)
			}
			_ = conn.Close()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := hook(t, short, handler)
			if err := w.Deliver(t.Context(), lines(t, w, "a")); err == nil {
				t.Error("no error")
			}
		})
	}
	t.Run("endless", func(t *testing.T) {
		w := hook(t, 0, func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				if _, err := w.Write([]byte(strings.Repeat("a", 4096))); err != nil {
					return
				}
			}
		})
		if err := w.Deliver(t.Context(), lines(t, w, "a")); err != nil {
			t.Error(err)
		}
	})
}

// TestWebhookRecovers: what a webhook refused at first arrives when it has recovered.
func TestWebhookRecovers(t *testing.T) {
	failures, arrived := 3, make(chan int, 1)
	w := hook(t, 0, func(w http.ResponseWriter, r *http.Request) {
		if failures--; failures >= 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var list trail.EventList
		if err := json.NewDecoder(r.Body).Decode(&list); err != nil {
			t.Error(err)
		}
		arrived <- len(list.Items)
	})
	b := New(Config{Name: "webhook", Mode: Batch, BufferSize: 10, MaxBatchSize: 2, MaxBatchWait: time.Hour, Senders: 1,
		Backoff: time.Microsecond, QPS: 1000, Burst: 1}, w, quiet())
	defer start(t, b)()
	b.Process(event("a"))
	b.Process(event("b"))
	if n := <-arrived; n != 2 {
		t.Errorf("%d events arrived", n)
	}
}
