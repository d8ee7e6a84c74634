package health

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// TestSLIs: each check that is asked counts, under kube-apiserver's names, and one that is excluded does not.
func TestSLIs(t *testing.T) {
	good := Check{"good", func(context.Context) error { return nil }}
	bad := Check{"bad", func(context.Context) error { return errors.New("broken") }}
	h := New([]Check{good}, []Check{good, bad}, []Check{good, bad.After(time.Now().Add(time.Hour))})
	for _, test := range []struct {
		path, want string
		code       int
	}{
		{"/livez", "ok", 200},
		{"/readyz?exclude=bad", "ok", 200},
		{"/readyz?verbose&exclude=bad", "[+]good ok\n[+]bad excluded: ok\nreadyz check passed\n", 200},
		{"/readyz?verbose&exclude=none", "[-]bad failed: reason withheld\n" +
			"warn: some health checks cannot be excluded: no matches for \"none\"\nreadyz check failed\n", 500},
		{"/readyz/bad", "[-]bad failed", 500},
		{"/healthz", "ok", 200},
		{"/livez/bad", "there is no check", 404},
	} {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, test.path, http.NoBody))
		if w.Code != test.code || !strings.Contains(w.Body.String(), test.want) {
			t.Errorf("%s: %d %q", test.path, w.Code, w.Body)
		}
	}
	w := httptest.NewRecorder()
	promhttp.HandlerFor(h.SLIs(), promhttp.HandlerOpts{}).ServeHTTP(w,
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics/slis", http.NoBody))
	text := w.Body.String()
	for _, line := range []string{
		`kubernetes_healthcheck{name="good",type="livez"} 1`, `kubernetes_healthcheck{name="bad",type="readyz"} 0`,
		`kubernetes_healthchecks_total{name="bad",status="error",type="readyz"} 2`,
		`kubernetes_healthchecks_total{name="good",status="success",type="readyz"} 3`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no %s in\n%s", line, text)
		}
	}
}
