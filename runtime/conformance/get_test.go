package conformance

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"apigen.dev/runtime/conformance/apis"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/embedded"
)

// BenchmarkConsistentGet has clients read objects one after the other, each as it is now, while keys of others are
// written; it tells what that costs the process, etcd included.
func BenchmarkConsistentGet(b *testing.B) {
	backend, err := embedded.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = backend.Close() })
	handle, err := apis.Groups()[0].Resources[1].Open(b.Context(),
		registry.Config{Backend: backend, Prefix: "/registry"})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = handle.Close() })
	const objects = 1000
	version := handle.Info().Versions[0].Name
	for i := range objects {
		body := fmt.Sprintf(`{"metadata":{"name":"o%04d","annotations":{"filler":%q}}}`, i, fmt.Sprintf("%1000d", i))
		if _, err := handle.Create(b.Context(), "ns", verb.Body{Version: version, Data: []byte(body)},
			verb.WriteOptions{Form: storedForm}); err != nil {
			b.Fatal(err)
		}
	}
	for _, clients := range []int{1, 16} {
		for _, writes := range []int{0, 100} {
			b.Run(fmt.Sprintf("clients=%d/writes=%d", clients, writes), func(b *testing.B) {
				ctx, stop := context.WithCancel(b.Context())
				var foreign sync.WaitGroup
				if writes > 0 {
					foreign.Go(func() { writeForeign(ctx, b, backend, writes) })
				}
				began := processTime(b)
				b.ResetTimer()
				var next atomic.Int64
				var group sync.WaitGroup
				for range clients {
					group.Go(func() {
						for {
							i := next.Add(1)
							if i > int64(b.N) {
								return
							}
							if _, err := handle.Get(ctx, "ns", fmt.Sprintf("o%04d", i%objects), "",
								storedForm); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				group.Wait()
				b.StopTimer()
				b.ReportMetric(float64((processTime(b)-began).Microseconds())/float64(b.N), "cpu-µs/op")
				stop()
				foreign.Wait()
			})
		}
	}
}

// writeForeign writes a key that is nobody's, so many times a second.
func writeForeign(ctx context.Context, b *testing.B, backend storage.Backend, perSecond int) {
	tick := time.NewTicker(time.Second / time.Duration(perSecond))
	defer tick.Stop()
	for revision := int64(0); ; {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		written, err := backend.Put(ctx, "/elsewhere", []byte("x"), revision, 0)
		var conflict *storage.ConflictError
		switch {
		case ctx.Err() != nil:
			return
		case errors.As(err, &conflict):
			written = conflict.Current.Revision
		case err != nil:
			b.Error(err)
			return
		}
		revision = written
	}
}

func processTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
