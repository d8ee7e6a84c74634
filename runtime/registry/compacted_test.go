package registry_test

import (
	"strconv"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/embedded"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// TestWatchOfACompactedChangeExpires: etcd no longer has the value before a change at the compacted revision. A watch
// that etcd serves can't tell whether the object matched before, so it expires. It delivers a creation there.
func TestWatchOfACompactedChangeExpires(t *testing.T) {
	for name, cached := range map[string]bool{"cache": true, "bare": false} {
		t.Run(name, func(t *testing.T) {
			backend, err := embedded.Open(t.Context(), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			first := openOver(t, backend, registry.New(shop.Definition()), registry.Config{DisableCache: true})
			first.create(`{"metadata":{"name":"a","labels":{"chosen":"yes"}}}`)
			changed, err := first.patch("a", "", `{"metadata":{"labels":{"chosen":"no"}}}`)
			if err != nil {
				t.Fatal(err)
			}
			second := first.compactedAt(changed.ResourceVersion, cached)
			first.create(`{"metadata":{"name":"next","labels":{"chosen":"yes"}}}`)
			chosen := api.Selection{Labels: labels.SelectorFromSet(labels.Set{"chosen": "yes"})}
			for name, selection := range map[string]api.Selection{"selected": chosen, "all": {}} {
				from := before(t, changed.ResourceVersion)
				w := second.watch(api.WatchOptions{Selection: selection, ResourceVersion: from})
				events, err := w.w.Next(second.ctx())
				if len(events) > 0 {
					t.Errorf("%s: %s %s", name, events[0].Type, whole(events[0].Object))
				}
				wantStatus(t, err, 410, metav1.StatusReasonExpired, "too old resource version: "+from)
			}

			created := first.create(`{"metadata":{"name":"b","labels":{"chosen":"yes"}}}`)
			third := first.compactedAt(created.ResourceVersion, cached)
			from := before(t, created.ResourceVersion)
			w := third.watch(api.WatchOptions{Selection: chosen, ResourceVersion: from})
			w.expect("ADDED b")
		})
	}
}

// compactedAt compacts the backend, and opens the resource over it once more.
func (b *bench) compactedAt(version string, cached bool) *bench {
	b.Helper()
	if err := b.backend.Compact(b.ctx(), mustInt(version)); err != nil {
		b.Fatal(err)
	}
	return openOver(b.TB, b.backend, registry.New(shop.Definition()), registry.Config{DisableCache: !cached})
}

func before(t *testing.T, version string) string {
	t.Helper()
	return strconv.FormatInt(mustInt(version)-1, 10)
}
