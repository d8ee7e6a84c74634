package lifecycle_test

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/builtin/lifecycle"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
	corev1 "k8s.io/api/core/v1"
)

// things returns a group with n kinds, whose Go type is that of config maps.
func things(n int) registry.Group {
	newThing := func() *corev1.ConfigMap { return new(corev1.ConfigMap) }
	group := registry.Group{Name: "things.example.com", Versions: []string{"v1"}}
	for i := range n {
		kind := fmt.Sprintf("Thing%d", i)
		group.Resources = append(group.Resources, registry.New(registry.Definition[*corev1.ConfigMap]{
			Group: group.Name, Scope: api.Namespaced, New: newThing, Storage: "v1",
			Names: api.Names{
				Kind: kind, ListKind: kind + "List",
				Plural: strings.ToLower(kind) + "s", Singular: strings.ToLower(kind),
			},
			Versions: []codec.Version[*corev1.ConfigMap]{codec.VersionOf(api.VersionInfo{Name: "v1"},
				codec.Conversion[*corev1.ConfigMap, *corev1.ConfigMap]{New: newThing})},
		}))
	}
	return group
}

// post sends a body, and fails the test unless the server creates what is in it.
func post(t *testing.T, s *apitest.Server, path, body string) {
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := s.Client.Do(request)
	if err != nil {
		t.Error(err)
		return
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusCreated {
		t.Errorf("%s: %d %s %v", path, response.StatusCode, text, err)
	}
}

// writes creates config maps in a namespace, some at a time, until stop is closed, and returns the 99th percentile of
// their times.
func writes(t *testing.T, s *apitest.Server, name string, stop <-chan struct{}) time.Duration {
	t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				began := time.Now()
				post(t, s, "/api/v1/namespaces/other/configmaps",
					fmt.Sprintf(`{"metadata": {"name": "%s-%d-%d"}}`, name, w, i))
				mu.Lock()
				times = append(times, time.Since(began))
				mu.Unlock()
			}
		})
	}
	writers.Wait()
	slices.Sort(times)
	p99 := times[len(times)*99/100]
	t.Logf("%s: %d writes, median %s, p99 %s", name, len(times), times[len(times)/2], p99)
	return p99
}

// liveHeap returns how much memory the last garbage collection left, in bytes: about half of what begins the next one.
func liveHeap() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.NextGC / 2
}

// TestLargeNamespace: a namespace of 100,000 objects of 40 kinds is emptied in little memory, and the p99 of writes in
// another one stays within five times what it was.
func TestLargeNamespace(t *testing.T) {
	if os.Getenv("APIGEN_LONG") == "" {
		t.Skip("it takes minutes; APIGEN_LONG=1 runs it")
	}
	const kinds, each = 40, 2500
	store, err := embedded.Etcd{}.Open(t.Context(), t.TempDir(),
		storage.EmbeddedOptions{Quota: storage.DefaultQuota})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	s := apitest.StartWith(t, func(config *server.Config) {
		config.Backend, config.Verify, config.CheckCache = store, false, 0
		if err := config.Use(t.Context(), new(lifecycle.Feature)); err != nil {
			t.Fatal(err)
		}
	}, append((&core.Feature{}).Groups(), things(kinds))...)
	for _, name := range []string{"big", "other"} {
		post(t, s, "/api/v1/namespaces", `{"metadata": {"name": "`+name+`"}}`)
	}
	value := strings.Repeat("x", 500)
	var next atomic.Int64
	var makers sync.WaitGroup
	for range 16 {
		makers.Go(func() {
			for i := next.Add(1); i <= kinds*each; i = next.Add(1) {
				post(t, s, fmt.Sprintf("/apis/things.example.com/v1/namespaces/big/thing%ds", i%kinds),
					fmt.Sprintf(`{"metadata": {"name": "t%d"}, "data": {"v": "%s"}}`, i, value))
			}
		})
	}
	makers.Wait()
	if t.Failed() {
		t.FailNow()
	}
	stop := make(chan struct{})
	time.AfterFunc(10*time.Second, func() { close(stop) })
	before := writes(t, s, "before", stop)
	runtime.GC()
	held, most := liveHeap(), uint64(0)
	if code, body := send(t, s, http.MethodDelete, "/big", ""); code != http.StatusOK {
		t.Fatalf("%d %s", code, body)
	}
	began, gone := time.Now(), make(chan struct{})
	go func() {
		defer close(gone)
		for range time.Tick(50 * time.Millisecond) {
			most = max(most, liveHeap())
			if code, _ := send(t, s, http.MethodGet, "/big", ""); code != http.StatusOK || t.Context().Err() != nil {
				return
			}
		}
	}()
	during := writes(t, s, "during", gone)
	t.Logf("emptied in %s; the heap: %d MiB, at most %d MiB", time.Since(began), held>>20, most>>20)
	if during > 5*before {
		t.Errorf("the p99 of other writes grew from %s to %s", before, during)
	}
	// The caches keep the deletions in their windows, for watchers, with what was deleted. The embedded etcd keeps the
	// last entries of its log.
	if most > held+200<<20 {
		t.Errorf("the heap grew from %d to %d bytes", held, most)
	}
}
