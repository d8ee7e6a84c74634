package proxy

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
)

func TestCheckAndFetch(t *testing.T) {
	both(t, func(t *testing.T, http2 bool) {
		var failures atomic.Int32
		_, config := serveTLS(t, http2, func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Remote-User") != "system:kube-aggregator" ||
				!reflect.DeepEqual(r.Header["X-Remote-Group"], []string{"system:masters"}) {
				t.Errorf("the user is %v", r.Header)
			}
			switch r.URL.Path {
			case "/apis/g/once":
				if failures.Add(1) < attempts {
					w.WriteHeader(http.StatusInternalServerError)
				}
			case "/apis/g/error":
				w.WriteHeader(http.StatusInternalServerError)
			case "/apis/g/redirect":
				http.Redirect(w, r, "/apis/g/v1", http.StatusFound)
			case "/endless":
				for {
					if _, err := w.Write(make([]byte, 64<<10)); err != nil {
						return
					}
				}
			case "/openapi":
				w.Header().Set("Etag", `"1"`)
				if r.Header.Get("If-None-Match") != "" {
					w.WriteHeader(http.StatusNotModified)
					return
				}
				fmt.Fprint(w, r.URL.RawQuery, " ", r.Header.Get("Accept"))
			}
		})
		b := open(t, config)
		for path, want := range map[string]string{
			"/apis/g/v1": "", "/apis/g/once": "", "/apis/g/error": ": 500", "/apis/g/redirect": ": 302",
		} {
			err := b.Check(t.Context(), path)
			if want == "" {
				if err != nil {
					t.Errorf("%s: %v", path, err)
				}
				continue
			}
			address, _ := b.resolve(t.Context())
			url := "https://" + address + path
			want = "failing or missing response from " + url + ": bad status from " + url + want
			if err == nil || err.Error() != want {
				t.Errorf("%s: %v, want %s", path, err, want)
			}
		}
		evil := http.Header{"X-Remote-User": {"root"}, "If-None-Match": {`"1"`}}
		document, err := b.Fetch(t.Context(), aggregator, "/openapi", "", evil)
		if err != nil || document.Code != http.StatusNotModified {
			t.Errorf("%v, %v", document, err)
		}
		document, err = b.Fetch(t.Context(), aggregator, "/openapi?hash=1", "application/json", nil)
		if err != nil || string(document.Body) != "hash=1 application/json" || document.Header.Get("Etag") != `"1"` {
			t.Errorf("%v, %v", document, err)
		}
		if _, err = b.Fetch(t.Context(), aggregator, "/endless", "", nil); err == nil ||
			!strings.Contains(err.Error(), "more than 33554432 bytes") {
			t.Errorf("an endless document: %v", err)
		}
	})
}

func TestCheckAndFetchOfABackendThatHangs(t *testing.T) {
	_, config := serveTLS(t, true, hang)
	b := open(t, config)
	b.discovery, b.fetch = time.Millisecond, time.Millisecond
	if err := b.Check(t.Context(), "/apis/g/v1"); err == nil || !strings.Contains(err.Error(), "exceeded") {
		t.Errorf("the check says %v", err)
	}
	if _, err := b.Fetch(t.Context(), aggregator, "/openapi", "", nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the fetch says %v", err)
	}
	b.config.Resolve = func(ctx context.Context, _, _ string, _ int32) (string, error) {
		<-ctx.Done()
		return "", ctx.Err()
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := b.Check(ctx, "/apis/g/v1"); !errors.Is(err, context.Canceled) {
		t.Errorf("the check says %v", err)
	}
}

func BenchmarkGet(b *testing.B) {
	for name, http2 := range map[string]bool{"HTTP1": false, "HTTP2": true} {
		b.Run(name, func(b *testing.B) {
			body := []byte(strings.Repeat("x", 1<<10))
			_, config := serveTLS(b, http2, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(body) })
			backend := open(b, config)
			ctx := auth.WithUser(context.Background(), alice)
			r := httptest.NewRequest(http.MethodGet, "/apis/g/v1/namespaces/n/things/a?x=y", nil).WithContext(ctx)
			b.ReportAllocs()
			for b.Loop() {
				w := discard{header: http.Header{}}
				if backend.ServeHTTP(&w, r); w.n != len(body) {
					b.Fatal(w.n)
				}
			}
		})
	}
}

type discard struct {
	header http.Header
	n      int
}

func (d *discard) Header() http.Header { return d.header }
func (d *discard) WriteHeader(int)     {}
func (d *discard) Flush()              {}
func (d *discard) Write(p []byte) (int, error) {
	d.n += len(p)
	return len(p), nil
}
