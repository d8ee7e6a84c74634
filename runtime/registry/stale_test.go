package registry_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// stalling is a backend whose watches tell nothing while they are stalled.
type stalling struct {
	storage.Backend
	stalled atomic.Bool
}

type stallingStream struct {
	storage.Stream
	of *stalling
}

func (s *stalling) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	stream, err := s.Backend.Watch(ctx, prefix, after)
	return &stallingStream{Stream: stream, of: s}, err
}

func (s *stallingStream) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := s.Stream.Next(ctx)
	if err == nil && s.of.stalled.Load() {
		<-ctx.Done()
		return storage.Batch{}, ctx.Err()
	}
	return batch, err
}

// TestStaleCacheIsNotBelieved: while the cache hears nothing of what others write, consistent reads and writes see it.
func TestStaleCacheIsNotBelieved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &stalling{Backend: memory.New()}
		b := openOver(t, backend, registry.New(shop.Definition()), registry.Config{})
		for _, name := range []string{"changed", "removed", "written"} {
			b.create(`{"metadata":{"name":"` + name + `"},"spec":{"size":5}}`)
		}
		synctest.Wait()
		backend.stalled.Store(true)
		h, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: backend,
			Prefix: "/registry", DisableCache: true})
		if err != nil {
			t.Fatal(err)
		}
		defer h.Close()
		other := &bench{TB: t, backend: backend, Handle: h}
		for _, name := range []string{"changed", "written"} {
			if _, err := other.patch(name, "", `{"spec":{"size":6}}`); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := other.delete("removed", verb.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		other.create(`{"metadata":{"name":"added"}}`)

		if r, err := b.Get(b.ctx(), "ns", "changed", "0", v1); err != nil || b.parse(r).Spec.Size != 5 {
			t.Fatalf("the cache isn't stale: %v", err)
		}
		if w := b.get("changed"); w.Spec.Size != 6 {
			t.Errorf("a stale object was read: size %d", w.Spec.Size)
		}
		if _, err := b.Get(b.ctx(), "ns", "removed", "", v1); codeOf(t, err) != 404 {
			t.Error("an object that is gone was read")
		}
		b.get("added")
		if names, _ := b.names("ns", verb.ListOptions{}); names != "added changed written" {
			t.Errorf("a stale list: %s", names)
		}
		// What was decided on the stale entry is decided again: to write nothing, and to write.
		if w, err := b.patch("written", "", `{"spec":{"size":5}}`); err != nil || w.Spec.Size != 5 ||
			other.get("written").Spec.Size != 5 {
			t.Errorf("%+v %v", w, err)
		}
		if w, err := b.patch("changed", "", `{"spec":{"color":"red"}}`); err != nil || w.Spec.Size != 6 {
			t.Errorf("%+v %v", w, err)
		}
		// A patch that can't be read is refused for each state that it is tried against.
		for _, kind := range []verb.PatchType{verb.JSONPatch, verb.MergePatch, verb.StrategicPatch} {
			if _, err := other.patch("changed", "", `{"spec":{"notes":{"`+string(kind[12])+`":"x"}}}`); err != nil {
				t.Fatal(err)
			}
			body := verb.Body{Version: "v1", Data: []byte(`{"a":`)}
			_, err := b.Patch(b.ctx(), "ns", "changed", "", kind, body, verb.WriteOptions{Form: v1})
			wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "")
		}
		// What logic refuses about a stale entry isn't its answer, where the object is gone.
		ctx, widgets := reachedFrom(t, b.Handle)
		refusal := errors.New("refused")
		refuse := func(*shop.Widget) error { return refusal }
		if _, err := widgets.Update(ctx, "ns", "removed", reach.Write{}, refuse); codeOf(t, err) != 404 {
			t.Errorf("an object that is gone was refused: %v", err)
		}
		if _, err := widgets.Update(ctx, "ns", "changed", reach.Write{}, refuse); !errors.Is(err, refusal) {
			t.Error(err)
		}
	})
}
