package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/storage"
)

// benchmarkValue is the size of values: that of a small Kubernetes object.
const benchmarkValue = 1 << 10

var benchmarks = []struct {
	name    string
	measure func(*testing.B, storage.Backend)
}{
	{"Put", func(b *testing.B, backend storage.Backend) {
		prefix, value := benchmarkPrefix(), bytes.Repeat([]byte("x"), benchmarkValue)
		for i := range b.N {
			if _, err := backend.Put(context.Background(), fmt.Sprintf("%s%09d", prefix, i), value, 0, 0); err != nil {
				b.Fatal(err)
			}
		}
	}},
	{"PutParallel", func(b *testing.B, backend storage.Backend) {
		prefix, value := benchmarkPrefix(), bytes.Repeat([]byte("x"), benchmarkValue)
		var count atomic.Int64
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				key := fmt.Sprintf("%s%09d", prefix, count.Add(1))
				if _, err := backend.Put(context.Background(), key, value, 0, 0); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}},
	{"Get", benchmarkGet(storage.GetOptions{})},
	{"GetRevisionOnly", benchmarkGet(storage.GetOptions{RevisionOnly: true})},
	{"Revision", func(b *testing.B, backend storage.Backend) {
		for range b.N {
			if _, err := backend.Revision(context.Background()); err != nil {
				b.Fatal(err)
			}
		}
	}},
	{"Range1000", func(b *testing.B, backend storage.Backend) {
		prefix := benchmarkPrefix()
		benchmarkFill(b, backend, prefix, 1000)
		for range b.N {
			result, err := backend.Range(context.Background(), storage.RangeRequest{Prefix: prefix})
			if err != nil || len(result.Items) != 1000 {
				b.Fatal(len(result.Items), err)
			}
		}
	}},
	{"WatchOne", func(b *testing.B, backend storage.Backend) { benchmarkWatch(b, backend, 1) }},
	{"Watch100", func(b *testing.B, backend storage.Backend) { benchmarkWatch(b, backend, 100) }},
}

// Benchmark measures the operations of a backend. It calls open for each measurement, and closes the backend.
func Benchmark(b *testing.B, open func(b *testing.B) storage.Backend) {
	for _, m := range benchmarks {
		b.Run(m.name, func(b *testing.B) {
			backend := open(b)
			defer backend.Close()
			b.ReportAllocs()
			b.ResetTimer()
			m.measure(b, backend)
		})
	}
}

func benchmarkFill(b *testing.B, backend storage.Backend, prefix string, n int) (keys []string) {
	b.Helper()
	for i := range n {
		key := fmt.Sprintf("%s%06d", prefix, i)
		if _, err := backend.Put(context.Background(), key, make([]byte, benchmarkValue), 0, 0); err != nil {
			b.Fatal(err)
		}
		keys = append(keys, key)
	}
	b.ResetTimer()
	return keys
}

func benchmarkPrefix() string { return fmt.Sprintf("/benchmark-%d/", prefixes.Add(1)) }

func benchmarkGet(options storage.GetOptions) func(*testing.B, storage.Backend) {
	return func(b *testing.B, backend storage.Backend) {
		keys := benchmarkFill(b, backend, benchmarkPrefix(), 1000)
		for i := range b.N {
			kv, _, err := backend.Get(context.Background(), keys[i%1000], options)
			if err != nil || kv == nil {
				b.Fatal(kv, err)
			}
		}
	}
}

// benchmarkWatch measures the time in which a thousand writes of the past arrive at all watchers.
func benchmarkWatch(b *testing.B, backend storage.Backend, watchers int) {
	ctx, prefix := context.Background(), benchmarkPrefix()
	start, err := backend.Revision(ctx)
	if err != nil {
		b.Fatal(err)
	}
	benchmarkFill(b, backend, prefix, 1000)
	for range b.N {
		failures := make(chan error, watchers)
		for range watchers {
			go func() {
				stream, err := backend.Watch(ctx, prefix, start)
				if err == nil {
					defer stream.Close()
					err = follow(ctx, stream, start, 1000)
				}
				failures <- err
			}()
		}
		for range watchers {
			if err := <-failures; err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(1000*watchers*b.N)/b.Elapsed().Seconds(), "events/s")
}
