package scrape

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

// TestReset: after DELETE, counters and histograms begin at 0, also those whose values somebody holds, and gauges stay.
func TestReset(t *testing.T) {
	registry := prometheus.NewRegistry()
	count := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "requests_total", Help: "x"}, []string{"code"})
	level := prometheus.NewGauge(prometheus.GaugeOpts{Name: "level", Help: "x"})
	of := prometheus.NewCounter(prometheus.CounterOpts{Name: "process_things_total", Help: "x"})
	times := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "seconds", Help: "x", Buckets: []float64{1, 2}})
	registry.MustRegister(count, level, of, times)
	handler := New(registry)
	serve := func(method string) string {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), method, "/metrics", http.NoBody))
		if w.Code != http.StatusOK {
			t.Errorf("%s: %d", method, w.Code)
		}
		return w.Body.String()
	}
	held := count.WithLabelValues("200")
	held.Add(3)
	count.WithLabelValues("404").Add(5)
	level.Set(7)
	of.Add(2)
	times.Observe(1.5)
	has := func(lines ...string) {
		t.Helper()
		text := serve(http.MethodGet)
		for _, line := range lines {
			if !strings.Contains(text, line+"\n") {
				t.Errorf("no %q in\n%s", line, text)
			}
		}
	}
	has(`requests_total{code="200"} 3`, `seconds_bucket{le="2"} 1`)
	if text := serve(http.MethodDelete); text != "metrics reset\n" {
		t.Errorf("DELETE answers %q", text)
	}
	has(`requests_total{code="200"} 0`, `seconds_bucket{le="2"} 0`, "seconds_sum 0", "seconds_count 0", "level 7",
		"process_things_total 2")
	held.Inc()
	times.Observe(.5)
	count.DeleteLabelValues("404") // its resource goes, and comes back
	count.WithLabelValues("404").Add(2)
	has(`requests_total{code="200"} 1`, `requests_total{code="404"} 2`, `seconds_bucket{le="1"} 1`, "seconds_sum 0.5")
	serve(http.MethodDelete)
	has(`requests_total{code="200"} 0`)
}
