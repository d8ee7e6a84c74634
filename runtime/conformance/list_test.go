package conformance

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"testing"

	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/internal/http/endpoint"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
)

var storedForm = verb.Form{Version: "v1beta1"}

// counter is a client that counts what it is sent, and remembers the first piece.
type counter struct {
	header http.Header
	code   int
	size   int
	begin  []byte
}

func (c *counter) Header() http.Header  { return c.header }
func (c *counter) WriteHeader(code int) { c.code = code }
func (c *counter) Write(p []byte) (int, error) {
	if c.size == 0 {
		c.begin = append(c.begin[:0], p[:min(len(p), 200)]...)
	}
	c.size += len(p)
	return len(p), nil
}

// shelf is a handler over the real registry and cache, with objects of 1 KiB.
type shelf struct {
	handler http.Handler
	handle  verb.Handle
	n       int
	written int
	out     counter
}

func newShelf(tb testing.TB, n int) *shelf {
	tb.Helper()
	backend := memory.New()
	tb.Cleanup(func() { _ = backend.Close() })
	group := endpoint.Group{Group: apis.Groups()[0]}
	s := &shelf{n: n, out: counter{header: http.Header{}}}
	for _, resource := range group.Resources {
		handle, err := resource.Open(context.Background(), registry.Config{Backend: backend, Prefix: "/registry"})
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() { _ = handle.Close() })
		group.Handles = append(group.Handles, handle)
		if resource.Info().Names.Plural == "flunders" {
			s.handle = handle
		}
	}
	var err error
	if s.handler, err = endpoint.New(endpoint.Config{Groups: []endpoint.Group{group}}); err != nil {
		tb.Fatal(err)
	}
	for i := range n {
		body := fmt.Sprintf(`{"apiVersion":"wardle.example.com/v1beta1","kind":"Flunder","metadata":{"name":%q,`+
			`"namespace":"default"},"spec":{"flunderReference":%q,"referenceType":"Flunder"}}`,
			fmt.Sprintf("f-%05d", i), strings.Repeat("x", 800))
		if _, err := s.handle.Create(context.Background(), "default", verb.Body{Version: "v1beta1", Data: []byte(body)},
			verb.WriteOptions{Form: storedForm}); err != nil {
			tb.Fatal(err)
		}
	}
	return s
}

// list answers one LIST. What it allocates beside the handler does not depend on the objects.
func (s *shelf) list(tb testing.TB, l listing) {
	r := httptest.NewRequest(http.MethodGet, "/apis/wardle.example.com/"+l.version+"/namespaces/default/flunders", nil)
	r.Header.Set("Accept", "application/json"+l.as)
	s.out.size, s.out.code = 0, 0
	clear(s.out.header)
	s.handler.ServeHTTP(&s.out, r)
	if s.out.code != http.StatusOK || s.out.size < s.n*l.least {
		tb.Fatalf("%d, %d bytes: %s", s.out.code, s.out.size, s.out.begin)
	}
}

// write changes one object.
func (s *shelf) write(tb testing.TB) {
	s.written++
	patch := fmt.Sprintf(`{"metadata":{"annotations":{"written":"%08d"}}}`, s.written)
	name := fmt.Sprintf("f-%05d", s.written*7919%s.n)
	if _, err := s.handle.Patch(context.Background(), "default", name, "", verb.MergePatch,
		verb.Body{Version: "v1beta1", Data: []byte(patch)}, verb.WriteOptions{Form: storedForm}); err != nil {
		tb.Error(err)
	}
}

// allocations is what a LIST allocates: how often, and how many bytes. Writes come before each, not during it, so that
// only what they leave to do for the LIST is counted.
func (s *shelf) allocations(tb testing.TB, l listing) (objects, bytes uint64) {
	const rounds = 20
	s.list(tb, l)
	var before, after runtime.MemStats
	for range rounds {
		for range l.writes {
			s.write(tb)
		}
		if l.writes > 0 { // the cache has caught up when a consistent read of it was answered
			if _, err := s.handle.Get(context.Background(), "default", "f-00000", "", storedForm); err != nil {
				tb.Fatal(err)
			}
		}
		runtime.ReadMemStats(&before)
		s.list(tb, l)
		runtime.ReadMemStats(&after)
		objects, bytes = objects+after.Mallocs-before.Mallocs, bytes+after.TotalAlloc-before.TotalAlloc
	}
	return objects / rounds, bytes / rounds
}

// listing is a way to list.
type listing struct {
	name, version, as string
	least             int // bytes for an object
	writes            int // between two lists
}

// lists are the ways to list that must not cost more allocations for more objects.
var lists = []listing{
	{name: "idle", version: "v1beta1", least: 1000},
	{name: "written", version: "v1beta1", least: 1000, writes: 10},
	{name: "another version", version: "v1alpha1", least: 1000},
	{name: "another version, written", version: "v1alpha1", least: 1000, writes: 10},
	{name: "table", version: "v1beta1", as: ";as=Table;v=v1;g=meta.k8s.io", least: 200},
	{name: "metadata", version: "v1beta1", as: ";as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", least: 200},
}

// A LIST of ten times as many objects allocates no more.
func TestListAllocations(t *testing.T) {
	small, large := newShelf(t, 1000), newShelf(t, 10_000)
	for _, l := range lists {
		t.Run(l.name, func(t *testing.T) {
			objects, bytes := small.allocations(t, l)
			moreObjects, moreBytes := large.allocations(t, l)
			t.Logf("1,000 objects: %d allocations, %d bytes; 10,000 objects: %d allocations, %d bytes", objects, bytes,
				moreObjects, moreBytes)
			if moreObjects > objects+500 {
				t.Errorf("the number of allocations grows with the objects: %d of 1,000, %d of 10,000",
					objects, moreObjects)
			}
			if moreBytes > bytes+64<<10 {
				t.Errorf("what is allocated grows with the objects: %d bytes of 1,000, %d bytes of 10,000",
					bytes, moreBytes)
			}
		})
	}
}

// BenchmarkList lists objects of 1 KiB at the HTTP handler, idle and beside a writer.
func BenchmarkList(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		s := newShelf(b, n)
		for _, l := range lists {
			b.Run(fmt.Sprintf("objects=%d/%s", n, strings.ReplaceAll(l.name, " ", "-")), func(b *testing.B) {
				s.list(b, l)
				b.ReportAllocs()
				for b.Loop() {
					s.beside(b, l)
				}
				b.SetBytes(int64(s.out.size))
			})
		}
	}
}

// beside lists while objects are written.
func (s *shelf) beside(tb testing.TB, l listing) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range l.writes {
			s.write(tb)
		}
	}()
	s.list(tb, l)
	<-done
}
