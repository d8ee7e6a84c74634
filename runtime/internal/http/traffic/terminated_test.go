package traffic

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	"github.com/prometheus/client_golang/prometheus"
)

// TestTerminations: requests that the server gave up are counted beside all others, until the resource is forgotten.
func TestTerminations(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, func(*request.Info) (Version, bool) { return Version{}, true })
	r := httptest.NewRequestWithContext(timing.New(t.Context()), http.MethodGet, "/apis/g/v1/things/a", http.NoBody)
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, terminated := range []bool{false, true, true} {
		m.Observe(filter.Observation{Request: r, Info: info, Code: http.StatusTooManyRequests, Terminated: terminated})
	}
	count := func(name string) (series int, sum float64) {
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if family.GetName() == name {
					series++
					sum += metric.GetCounter().GetValue()
				}
			}
		}
		return series, sum
	}
	if series, all := count("apiserver_request_total"); series != 1 || all != 3 {
		t.Errorf("%v requests in %d series, want 3 in 1", all, series)
	}
	if series, all := count("apiserver_request_terminations_total"); series != 1 || all != 2 {
		t.Errorf("%v requests are terminated, in %d series, want 2 in 1", all, series)
	}
	m.Forget("g", "things")
	if series, _ := count("apiserver_request_terminations_total"); series != 0 {
		t.Errorf("%d series are left", series)
	}
}
