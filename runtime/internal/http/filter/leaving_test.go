package filter

import (
	"context"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/request"
)

// TestLeave: a server that is about to end asks clients to connect anew, but those that upgrade the connection.
func TestLeave(t *testing.T) {
	drain := NewDrain(Ending{})
	handler := Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), drain.Filter(isHealth))
	serve := func(path, upgrade string) string {
		r, w := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, http.NoBody), httptest.NewRecorder()
		if upgrade != "" {
			r.Header.Set("Upgrade", upgrade)
		}
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", path, w.Code)
		}
		return w.Header().Get("Connection")
	}
	if got := serve("/x", ""); got != "" {
		t.Errorf("before: %q", got)
	}
	drain.Leave()
	for _, test := range [][3]string{{"/x", "", "close"}, {"/x", "websocket", ""}, {"/readyz", "", ""}} {
		if got := serve(test[0], test[1]); got != test[2] {
			t.Errorf("%v: %q", test, got)
		}
	}
}

// TestRefuseLater: with TooMany, new requests get kube-apiserver's 429.
func TestRefuseLater(t *testing.T) {
	drain := NewDrain(Ending{TooMany: true})
	handler := Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), drain.Filter(isHealth))
	drain.Start()
	w := httptest.NewRecorder()
	handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/x", http.NoBody))
	if w.Code != http.StatusTooManyRequests || w.Header().Get("Retry-After") != "5" ||
		w.Header().Get("Connection") != "close" {
		t.Errorf("%d %v", w.Code, w.Header())
	}
}

// TestSpread: watches end one after the other, and all of them within the time.
func TestSpread(t *testing.T) { synctest.Test(t, testSpread) }

func testSpread(t *testing.T) {
	const watches, spread = 100, 500 * time.Millisecond
	drain := NewDrain(Ending{Spread: spread})
	entered, ended := make(chan struct{}), make(chan time.Time, watches)
	handler := Chain(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		entered <- struct{}{}
		<-r.Context().Done()
		ended <- time.Now()
	}), drain.Filter(isHealth))
	for range watches {
		go func() {
			ctx := request.WithInfo(context.Background(), &request.Info{LongRunning: true})
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, "GET", "/w", http.NoBody))
		}()
		<-entered
	}
	began := time.Now()
	drain.Start()
	if err := drain.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
	var times []time.Duration
	for range watches {
		times = append(times, (<-ended).Sub(began))
	}
	slices.Sort(times)
	// A hundred random moments of which none is in the second half, or all of them, are less likely than 2^-99.
	if times[0] > spread/2 || times[watches-1] < spread/2 {
		t.Errorf("the watches ended between %s and %s", times[0], times[watches-1])
	}
}

func TestGoAway(t *testing.T) {
	if GoAway(0) != nil {
		t.Error("there is a filter without a chance")
	}
	always := Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}), GoAway(1), GoAway(0))
	for major, want := range map[int]string{1: "", 2: "close"} {
		r, w := httptest.NewRequestWithContext(t.Context(), "GET", "/", http.NoBody), httptest.NewRecorder()
		r.ProtoMajor = major
		always.ServeHTTP(w, r)
		if got := w.Header().Get("Connection"); got != want {
			t.Errorf("HTTP/%d: %q", major, got)
		}
	}
}

// TestBrowserHeaders: the headers are kube-apiserver's, and a preflight request passes to nobody.
func TestBrowserHeaders(t *testing.T) {
	asked := 0
	handler := Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked++ }),
		StrictTransport([]string{"max-age=31536000", "preload"}),
		CORS([]*regexp.Regexp{regexp.MustCompile(`^https://shop\.example\.com$`)}))
	for _, test := range []struct {
		method, origin, allowed string
		code, asked             int
	}{
		{"GET", "", "", 200, 1},
		{"GET", "https://shop.example.com", "https://shop.example.com", 200, 1},
		{"GET", "https://shop.example.com.evil.org", "", 200, 1},
		{"OPTIONS", "https://shop.example.com", "https://shop.example.com", 204, 0},
		{"OPTIONS", "https://evil.org", "", 200, 1},
	} {
		asked = 0
		r, w := httptest.NewRequestWithContext(t.Context(), test.method, "/", http.NoBody), httptest.NewRecorder()
		r.Header.Set("Origin", test.origin)
		handler.ServeHTTP(w, r)
		h := w.Header()
		if w.Code != test.code || asked != test.asked || h.Get("Access-Control-Allow-Origin") != test.allowed ||
			h.Get("Strict-Transport-Security") != "max-age=31536000; preload" ||
			(test.allowed != "") != strings.Contains(h.Get("Access-Control-Allow-Methods"), "PATCH") {
			t.Errorf("%s from %q: %d, asked %d, %v", test.method, test.origin, w.Code, asked, h)
		}
	}
}
