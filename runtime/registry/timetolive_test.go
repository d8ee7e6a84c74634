package registry_test

import (
	"context"
	"testing"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
)

// noting notes the time to live of the last write.
type noting struct {
	storage.Backend
	ttl time.Duration
}

func (b *noting) Put(
	ctx context.Context, key string, value []byte, revision int64, ttl time.Duration,
) (int64, error) {
	b.ttl = ttl
	return b.Backend.Put(ctx, key, value, revision, ttl)
}

// Each write of an object gives it the time to live of its kind, but a deletion that a finalizer holds up.
func TestTimeToLive(t *testing.T) {
	d := shop.Definition()
	d.Strategy.TimeToLive = func(_ context.Context, w *shop.Widget) time.Duration {
		return time.Duration(w.Size) * time.Minute
	}
	backend := &noting{Backend: newMemory(t)}
	h, err := registry.New(d).Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
		DisableCache: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	opts := verb.WriteOptions{Form: v1}
	want := func(name string, ttl time.Duration, err error) {
		t.Helper()
		if err != nil || backend.ttl != ttl {
			t.Errorf("%s: %s, %v; want %s", name, backend.ttl, err, ttl)
		}
	}
	_, err = h.Create(t.Context(), "ns",
		body(`{"metadata":{"name":"a","finalizers":["example.com/f"]},"spec":{"size":3}}`),
		opts)
	want("create", 3*time.Minute, err)
	_, err = h.Patch(t.Context(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":5}}`), opts)
	want("patch", 5*time.Minute, err)
	_, err = h.Delete(t.Context(), "ns", "a", verb.DeleteOptions{WriteOptions: opts})
	want("mark", storage.KeepTTL, err)
}
