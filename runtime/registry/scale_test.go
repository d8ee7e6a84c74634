//go:build unix

package registry_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
)

// crowd is a backend that holds n widgets of 1 KiB without keeping any: it makes them as they are read. What is written
// through changes is told to whoever watches.
type crowd struct {
	storage.Backend
	n       int
	padding string // of each widget
	unlike  bool   // the second half of the padding is another one in each widget
	changes chan storage.Batch
}

const crowdPrefix = "/registry/shop.example.com/widgets/"

var crowdPadding = strings.Repeat("0123456789abcdef", 38)

func (c *crowd) widget(i int, revision int64) storage.KeyValue {
	namespace, name := fmt.Sprintf("ns-%04d", i/1000), fmt.Sprintf("widget-%07d", i)
	padding := c.padding
	if c.unlike {
		padding = padding[:len(padding)-len(padding)/2]
		for seed := rand.New(rand.NewPCG(uint64(i), 1)); len(padding) < len(c.padding); {
			padding += strconv.FormatUint(seed.Uint64(), 36)
		}
	}
	return storage.KeyValue{Key: crowdPrefix + namespace + "/" + name, Revision: revision,
		Value: fmt.Appendf(nil, `{"kind":"Widget","apiVersion":"shop.example.com/v1",`+
			`"metadata":{"name":%q,"namespace":%q,"uid":"4f0a7b0c-1b5e-4a5c-9b62-%012d","generation":%d,`+
			`"creationTimestamp":"2024-05-06T07:08:09Z",`+
			`"labels":{"app.kubernetes.io/name":"shop","tier":"t%d"},"annotations":{"a":%q}},"spec":{"color":"c%d",`+
			`"size":%d}}`+"\n",
			name, namespace, i, revision, i%10, padding, i%1000, i)}
}

func (c *crowd) Range(_ context.Context, r storage.RangeRequest) (*storage.RangeResult, error) {
	from := 0
	if r.From != "" {
		last := strings.TrimRight(r.From[strings.LastIndexByte(r.From, '-')+1:], "\x00")
		i, err := strconv.Atoi(last)
		if err != nil {
			return nil, err
		}
		from = i + 1
	}
	to := min(c.n, from+int(r.Limit))
	result := &storage.RangeResult{Revision: 10, More: to < c.n, Remaining: int64(c.n - to)}
	for i := from; i < to; i++ {
		result.Items = append(result.Items, c.widget(i, 10))
	}
	return result, nil
}

func (c *crowd) Get(context.Context, string, storage.GetOptions) (*storage.KeyValue, int64, error) {
	return nil, 10, nil // there is nothing but widgets
}
func (c *crowd) Put(context.Context, string, []byte, int64, time.Duration) (int64, error) {
	return 10, nil
}
func (c *crowd) Revision(context.Context) (int64, error) { return 10, nil }
func (c *crowd) Close() error                            { return nil }
func (c *crowd) Watch(context.Context, string, int64) (storage.Stream, error) {
	return crowdStream{c.changes}, nil
}

type crowdStream struct{ changes chan storage.Batch }

func (s crowdStream) Next(ctx context.Context) (storage.Batch, error) {
	select {
	case b := <-s.changes:
		return b, nil
	case <-ctx.Done():
		return storage.Batch{}, ctx.Err()
	}
}
func (crowdStream) RequestProgress(context.Context) error { return nil }
func (crowdStream) Close()                                {}

// gather opens widgets on a crowd, and returns when all are in memory.
func gather(t testing.TB, n int) (*crowd, verb.Handle) {
	t.Helper()
	c := &crowd{n: n, padding: crowdPadding, changes: make(chan storage.Batch)}
	return c, c.gather(t, registry.Config{})
}

// gather opens the widgets, and returns when all are in memory.
func (c *crowd) gather(t testing.TB, config registry.Config) verb.Handle {
	t.Helper()
	config.Backend, config.Prefix = c, "/registry"
	h, err := registry.New(shop.Definition()).Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for h.Ready() != nil {
		<-tick.C
	}
	return h
}

// TestLiveHeapPerCachedObject: an object of 1.6 kB of JSON that is cached costs at most 2.4 kB of live heap, in its
// first rendition only. Most of what is above the JSON is the allocator's rounding. If nobody reads it, it costs less
// than two thirds of its JSON, half of which no other object has.
func TestLiveHeapPerCachedObject(t *testing.T) {
	const n, size, most, mostCold = 20_000, 1600, 2400, 1000
	c := &crowd{n: n, unlike: true, changes: make(chan storage.Batch)}
	c.padding = strings.Repeat("configuration ", size)[:size-len(c.widget(0, 10).Value)]
	heap := func() uint64 {
		runtime.GC()
		runtime.GC() // what pools held is gone after the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	each := func() float64 { return (float64(heap()) - float64(before)) / n }
	h := c.gather(t, registry.Config{})
	plain := each()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	t.Logf("%.0f bytes for each object", plain)
	if plain > most || plain < size {
		t.Errorf("%.0f bytes for each object of %d, want at most %d", plain, size, most)
	}
	before = heap()
	h = c.gather(t, registry.Config{CompressCache: time.Millisecond})
	cold := each()
	for cold > mostCold { // until the cache has compressed enough of them
		cold = each()
	}
	t.Logf("%.0f bytes for each object that nobody reads", cold)
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}

// usage is what the process has used of the processors, in seconds, and how much of that for collections.
type usage struct{ all, collecting float64 }

// used asks the system for all. The runtime's share of collections is measured by the clock, so that on a busy machine
// it counts what others used: it is scaled by what the whole process got of the time that it was busy.
func used(t testing.TB) usage {
	t.Helper()
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	seconds := func(v syscall.Timeval) float64 { return float64(v.Sec) + float64(v.Usec)/1e6 }
	samples := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/total:cpu-seconds"},
		{Name: "/cpu/classes/idle:cpu-seconds"}}
	runtime.GC() // the classes are told at its end
	metrics.Read(samples)
	u := usage{all: seconds(r.Utime) + seconds(r.Stime)}
	if busy := samples[1].Value.Float64() - samples[2].Value.Float64(); busy > 0 {
		u.collecting = samples[0].Value.Float64() * min(1, u.all/busy)
	}
	return u
}

// live is the heap after a collection, in GiB.
func live() float64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	runtime.GC()
	runtime.GC()
	metrics.Read(sample)
	return float64(sample[0].Value.Uint64()) / (1 << 30)
}

// BenchmarkRestart fills the cache with 100,000 objects: what a server does when it begins. It decodes on all cores and
// costs less than 5 s of CPU.
func BenchmarkRestart(b *testing.B) {
	const n = 100_000
	b.ReportAllocs()
	begin, runs := used(b).all, 0
	for b.Loop() {
		_, h := gather(b, n)
		if err := h.Close(); err != nil {
			b.Fatal(err)
		}
		runs++
	}
	each := (used(b).all - begin) / float64(runs)
	b.ReportMetric(each, "cpu-s/op")
	b.ReportMetric(each/(b.Elapsed().Seconds()/float64(runs)), "cores")
	if each > 5 {
		b.Errorf("%.1f s of CPU", each)
	}
}

// TestMillion keeps a million objects of 1 KiB under 500 writes a second: the garbage collector takes under 3 % of a
// core, and the live heap stays under 2.6 GiB.
func TestMillion(t *testing.T) {
	if os.Getenv("APIGEN_LONG") == "" {
		t.Skip("a minute and 6 GiB of memory; APIGEN_LONG=1 runs it")
	}
	const n, writes, each = 1_000_000, 500, 40 * time.Second
	c, h := gather(t, n)
	t.Logf("filled: %.2f GiB live", live())
	follower, stop := context.WithCancel(t.Context())
	watch, err := h.Watch(follower, "ns-0007", api.WatchOptions{}, v1)
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan error, 1)
	go func() {
		for {
			if _, err := watch.Next(follower); err != nil {
				told <- err
				return
			}
		}
	}()
	begin, since := used(t).collecting, time.Now()
	tick := time.NewTicker(time.Second / writes)
	defer tick.Stop()
	revision := int64(10)
	for time.Since(since) < each {
		<-tick.C
		revision++
		c.changes <- storage.Batch{Revision: revision,
			Events: []storage.Event{{KeyValue: c.widget(int(revision*7919)%n, revision)}}}
	}
	elapsed := time.Since(since).Seconds()
	collecting := used(t).collecting - begin // with one cycle more than there was
	heap := live()
	t.Logf("%.0f writes/s: %.2f %% of a core for collections, %.2f GiB live", float64(revision-10)/elapsed,
		100*collecting/elapsed, heap)
	if collecting/elapsed > 0.03 {
		t.Errorf("the garbage collector takes %.1f %% of a core", 100*collecting/elapsed)
	}
	if heap > 2.6 {
		t.Errorf("%.2f GiB are live", heap)
	}
	stop()
	if err := <-told; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	watch.Close()
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
