package traffic

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/internal/request"
	"github.com/prometheus/client_golang/prometheus"
)

// TestWatches: watches in progress, their events, and the time that their state takes are measured, until the resource
// is forgotten.
func TestWatches(t *testing.T) {
	registry := prometheus.NewRegistry()
	served := true
	m := New(registry, func(*request.Info) (Version, bool) { return Version{}, served })
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/apis/g/v1/namespaces/n/things?watch=1", nil)
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	first, second := m.Begin(r, info), m.Begin(r, info)
	second()
	watch := m.Watch(info)
	if m.Watch(info) != watch {
		t.Error("each watch has series of its own")
	}
	watch.Event(100)
	watch.Event(5000)
	watch.Listed(300 * time.Millisecond)
	names := []string{
		"apiserver_longrunning_requests", "apiserver_watch_events_total", "apiserver_watch_events_sizes",
		"apiserver_watch_list_duration_seconds",
	}
	text := func() string {
		all, err := registry.Gather()
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, family := range all {
			if slices.Contains(names, family.GetName()) {
				b.WriteString(family.String() + "\n")
			}
		}
		return strings.ReplaceAll(b.String(), "  ", " ")
	}
	got := text()
	for _, want := range []string{
		`name:"apiserver_longrunning_requests"`, "gauge:{value:1}", "counter:{value:2", "sample_sum:5100",
		"sample_count:2", "sample_sum:0.3", `name:"scope" value:"namespace"`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %s in\n%s", want, got)
		}
	}
	m.Forget("g", "things")
	if left := text(); left != "" {
		t.Errorf("forgotten, and still there:\n%s", left)
	}
	first()
	served = false
	m.Begin(r, info)()
	if left := text(); left != "" {
		t.Errorf("a resource that isn't served has series:\n%s", left)
	}
}
