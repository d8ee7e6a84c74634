package registry_test

import (
	"strings"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// narrow is a backend that takes no value above a size; 0 means no bound.
type narrow struct {
	storage.Backend
	most atomic.Int64
}

func (n *narrow) Put(ctx ctxT, key string, value []byte, expect int64, ttl durationT) (int64, error) {
	if most := n.most.Load(); most > 0 && int64(len(value)) > most {
		return 0, storage.ErrTooLarge
	}
	return n.Backend.Put(ctx, key, value, expect, ttl)
}

// What fits without its managedFields is written without them; what doesn't is a 413, and nothing is written.
func TestTooLargeWithItsOwners(t *testing.T) {
	backend := &narrow{Backend: memory.New()}
	b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
	const key = "/registry/shop.example.com/widgets/ns/"
	b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
	b.create(`{"metadata":{"name":"c"},"spec":{"color":"red"}}`)
	whole, before := b.stored(key + "a")
	backend.most.Store(int64(len(whole) - 1))
	b.create(`{"metadata":{"name":"b"},"spec":{"color":"red"}}`)
	if _, err := b.patch("a", "", `{"spec":{"color":"tan"}}`); err != nil {
		t.Fatal(err)
	}
	for name, color := range map[string]string{"a": "tan", "b": "red"} {
		stored, revision := b.stored(key + name)
		if strings.Contains(stored, "managedFields") || !strings.Contains(stored, `"color":"`+color+`"`) ||
			revision <= before {
			t.Errorf("%s is stored as %s at %d", name, stored, revision)
		}
	}
	backend.most.Store(int64(len(whole) / 4))
	_, before = b.stored(key + "c")
	_, err := b.patch("c", "", `{"spec":{"color":"tan"}}`)
	wantStatus(t, err, 413, metav1.StatusReasonRequestEntityTooLarge,
		`widgets.shop.example.com "c" is larger than storage takes`)
	if _, revision := b.stored(key + "c"); revision != before {
		t.Error("a refused write was done")
	}
	_, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"d"}}`), verb.WriteOptions{Form: v1})
	wantStatus(t, err, 413, metav1.StatusReasonRequestEntityTooLarge, "is larger than storage takes")
}
