package collector

import (
	"errors"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// An owner that orphans its dependents finds a dependent, or that it is corrupt, while the dependent becomes readable
// and corrupt again and again.
func TestADependentIsReadableOrCorrupt(t *testing.T) {
	w := newWorld(t, false)
	w.create("twigs/ns/stem")
	w.create("leafs/ns/broken", "twigs/ns/stem")
	c := New(w.handles, nil)
	r := c.kinds.of(schema.GroupKind{Group: "wood.example.com", Kind: "Leaf"}).resource.Load()
	twigs := c.kinds.of(schema.GroupKind{Group: "wood.example.com", Kind: "Twig"}).resource.Load()
	stem, err := twigs.object(w.meta("twigs/ns/stem"))
	if err != nil {
		t.Fatal(err)
	}
	object, err := r.source.Load().handle.Get(t.Context(), "ns", "broken", "", r.source.Load().form)
	if err != nil {
		t.Fatal(err)
	}
	c.graph.addCorrupt(r, objectName{"ns", "broken"})
	done := make(chan error)
	go func() {
		defer close(done)
		for range 2000 {
			for _, kind := range []api.EventType{api.Modified, api.Corrupt} {
				if _, err := c.observe(r, &verb.Event{Type: kind, Object: object}); err != nil {
					done <- err
					return
				}
			}
		}
	}()
	readable, corrupt := 0, 0
	for {
		select {
		case err := <-done:
			if err != nil || readable+corrupt == 0 {
				t.Errorf("%v; it was readable %d times and corrupt %d times", err, readable, corrupt)
			}
			return
		default:
		}
		dependents, err := c.graph.readableDependents(stem)
		switch {
		case errors.Is(err, errMayDepend):
			corrupt++
		case err == nil && len(dependents) == 1:
			readable++
		default:
			t.Fatalf("neither the graph has it nor is it corrupt: %v", err)
		}
	}
}

// The end of a replay forgets the corrupt objects that the state no longer has, and no others.
func TestReplayForgetsCorruptObjects(t *testing.T) {
	w := newWorld(t, false)
	c := New(w.handles, nil)
	r := c.resources[0]
	c.graph.addCorrupt(r, objectName{"ns", "gone"})
	c.graph.addCorrupt(r, objectName{"ns", "still"})
	r.replays++
	if c.graph.corruptLen(r) != 2 {
		t.Error("a replay forgets corrupt objects before its end")
	}
	c.graph.addCorrupt(r, objectName{"ns", "still"})
	c.graph.endReplay(r)
	if c.graph.isCorrupt(r, objectName{"ns", "gone"}) || !c.graph.isCorrupt(r, objectName{"ns", "still"}) {
		t.Errorf("the graph has %v", c.graph.corrupt[r])
	}
}
