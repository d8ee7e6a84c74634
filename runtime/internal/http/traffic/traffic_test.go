package traffic

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/timing"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// TestNames: the labels are kube-apiserver's, and what isn't served has one name.
func TestNames(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, func(i *request.Info) (Version, bool) {
		return Version{}, i.Group == "g" && i.Resource == "things"
	})
	observe := func(method, url, contentType string, code int) {
		t.Helper()
		r := httptest.NewRequestWithContext(timing.New(t.Context()), method, url, http.NoBody)
		r.Header.Set("Content-Type", contentType)
		info, err := request.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Observe(filter.Observation{Request: r, Info: info, Code: code, Bytes: 5000, Duration: time.Second})
	}
	text := func() string {
		w := httptest.NewRecorder()
		promhttp.HandlerFor(registry, promhttp.HandlerOpts{}).ServeHTTP(w,
			httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", http.NoBody))
		return w.Body.String()
	}
	const things = "/apis/g/v1/namespaces/n/things"
	for _, test := range []struct {
		method, url, contentType string
		code                     int
		verb, dryRun, scope, sub string
	}{
		{"GET", things + "/a", "", 200, "GET", "", "resource", ""},
		{"HEAD", things + "/a", "", 404, "GET", "", "resource", ""},
		{"GET", things, "", 200, "LIST", "", "namespace", ""},
		{"GET", "/apis/g/v1/things", "", 200, "LIST", "", "cluster", ""},
		{"GET", "/apis/g/v1/things?watch=1", "", 200, "WATCH", "", "cluster", ""},
		{"POST", things + "?dryRun=All", "", 201, "POST", "All", "resource", ""},
		{"PUT", things + "/a/status?dryRun=x", "", 400, "PUT", "invalid", "resource", "status"},
		{"PATCH", things + "/a", "application/apply-patch+yaml", 200, "APPLY", "", "resource", ""},
		{"PATCH", things + "/a", "application/merge-patch+json", 200, "PATCH", "", "resource", ""},
		{"DELETE", things, "", 200, "DELETE", "", "namespace", ""},
		{"GET", things + "/a/log", "", 200, "CONNECT", "", "resource", "log"},
	} {
		observe(test.method, test.url, test.contentType, test.code)
		labels := `dry_run="` + test.dryRun + `",group="g",resource="things",scope="` + test.scope + `",subresource="` +
			test.sub + `",verb="` + test.verb + `",version="v1"`
		want := `apiserver_request_total{code="` + http.StatusText(test.code) + `",component="apiserver",` + labels
		want = strings.Replace(want, http.StatusText(test.code), map[int]string{200: "200", 201: "201", 400: "400",
			404: "404"}[test.code], 1)
		if got := text(); !strings.Contains(got, want) {
			t.Errorf("%s %s: no %s in\n%s", test.method, test.url, want, got)
		}
	}
	if strings.Contains(text(), `seconds_count{component="apiserver",dry_run="",group="g",resource="things",`+
		`scope="cluster",subresource="",verb="WATCH"`) {
		t.Error("the life of a watch is taken for its duration")
	}
	before := strings.Count(text(), "\n")
	observe("GET", "/apis/unknown/v1/things", "", 404)
	one := strings.Count(text(), "\n")
	observe("GET", "/apis/other/v1/things", "", 404)
	if many := strings.Count(text(), "\n"); one == before || many != one {
		t.Errorf("%d lines, %d, %d", before, one, many)
	}
	m.Forget("g", "things")
	if strings.Contains(text(), "things") {
		t.Errorf("after Forget:\n%s", text())
	}
	observe("GET", things+"/a", "", 200) // it comes back
	if !strings.Contains(text(), "things") {
		t.Error("a resource that came back is not counted")
	}
}

// TestObjective: what admission and a fair queue took is not part of the server's own latency.
func TestObjective(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, func(*request.Info) (Version, bool) { return Version{}, true })
	record := timing.New(t.Context())
	timing.End(record, timing.Admission, "webhook", time.Now().Add(-4*time.Second))
	timing.End(record, timing.Queue, "low", time.Now().Add(-5*time.Second))
	r := httptest.NewRequestWithContext(record, http.MethodPost, "/apis/g/v1/things", http.NoBody)
	m.Observe(filter.Observation{
		Request: r, Info: &request.Info{Verb: "create"}, Code: 201, Duration: 10 * time.Second,
	})
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			sums[family.GetName()] += metric.GetHistogram().GetSampleSum()
		}
	}
	if sums["apiserver_request_duration_seconds"] != 10 || sums["apiserver_request_sli_duration_seconds"] > 1 {
		t.Errorf("%v", sums)
	}
}

func BenchmarkObserve(b *testing.B) {
	m := New(prometheus.NewRegistry(), func(*request.Info) (Version, bool) { return Version{}, true })
	r := httptest.NewRequestWithContext(timing.New(b.Context()), http.MethodGet, "/apis/g/v1/things/a", http.NoBody)
	info, err := request.New(r, nil)
	if err != nil {
		b.Fatal(err)
	}
	o := filter.Observation{Request: r, Info: info, Code: 200, Bytes: 300, Duration: time.Millisecond}
	b.ReportAllocs()
	for b.Loop() {
		m.Observe(o)
	}
}

// TestDeprecatedVersions: metrics tell which deprecated versions clients use, and when these go away.
func TestDeprecatedVersions(t *testing.T) {
	registry := prometheus.NewRegistry()
	m := New(registry, func(i *request.Info) (Version, bool) {
		return Version{Deprecated: i.Version == "v1beta1", Removed: "1.9"}, i.Subresource != "scale"
	})
	observe := func(path string, code int) {
		t.Helper()
		r := httptest.NewRequestWithContext(timing.New(t.Context()), http.MethodGet, "/apis/g/"+path, http.NoBody)
		info, err := request.New(r, nil)
		if err != nil {
			t.Fatal(err)
		}
		m.Observe(filter.Observation{Request: r, Info: info, Code: code})
	}
	series := func() (found []string) {
		t.Helper()
		families, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		for _, family := range families {
			for _, metric := range family.GetMetric() {
				if family.GetName() == "apiserver_requested_deprecated_apis" && metric.GetGauge().GetValue() == 1 {
					found = append(found, fmt.Sprint(metric.GetLabel()))
				}
			}
		}
		return found
	}
	observe("v1/things", http.StatusOK)
	observe("v1beta1/things", http.StatusForbidden)
	observe("v1beta1/things/a/scale", http.StatusNotFound)
	if found := series(); len(found) > 0 {
		t.Errorf("nobody used a deprecated version, and there is %s", found)
	}
	observe("v1beta1/things/a/status", http.StatusOK)
	observe("v1beta1/things/a/status", http.StatusConflict)
	found := series()
	if len(found) != 1 || !strings.Contains(found[0], `"v1beta1"`) || !strings.Contains(found[0], `"status"`) ||
		!strings.Contains(found[0], `"1.9"`) {
		t.Errorf("deprecated versions: %s", found)
	}
	if m.Forget("g", "things"); len(series()) > 0 {
		t.Errorf("after Forget: %s", series())
	}
}
