package collector

import (
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What can be read again is hidden until the graph has it: an owner that leaves its dependents behind must find it in
// one of the two.
func TestUnveiledIsHiddenUntilTheGraphHasIt(t *testing.T) {
	w := newWorld(t, false)
	w.create("twigs/ns/stem")
	w.create("leafs/ns/broken", "twigs/ns/stem")
	c := New(w.handles, nil)
	r := c.kinds[schema.GroupKind{Group: "wood.example.com", Kind: "Leaf"}]
	name := objectName{"ns", "broken"}
	r.corrupt.add(name)
	object, err := r.handle.Get(t.Context(), "ns", "broken", "", r.form)
	if err != nil {
		t.Fatal(err)
	}
	c.graph.mu.Lock() // nothing gets into the graph
	observed := make(chan error)
	go func() {
		_, err := c.observe(r, &api.Event{Type: api.Modified, Object: object})
		observed <- err
	}()
	for begun := time.Now(); time.Since(begun) < 50*time.Millisecond; {
		if !r.corrupt.has(name) {
			t.Error("neither the graph has it nor is it hidden")
			break
		}
	}
	c.graph.mu.Unlock()
	if err := <-observed; err != nil || r.corrupt.len() > 0 || c.graph.len() != 1 {
		t.Errorf("%v; hidden %d, in the graph %d", err, r.corrupt.len(), c.graph.len())
	}
}

// Who saw an object neither hidden nor in the graph, since it went to and fro meanwhile, knows that it must look again.
func TestVeilsAreCounted(t *testing.T) {
	w := newWorld(t, false)
	c := New(w.handles, nil)
	last := c.corruptChanges()
	for what, change := range map[string]func(h *corruptObjects){
		"add":    func(h *corruptObjects) { h.add(objectName{"ns", "a"}) },
		"remove": func(h *corruptObjects) { h.add(objectName{"ns", "b"}); h.remove(objectName{"ns", "b"}) },
		"clear":  func(h *corruptObjects) { h.clear() },
	} {
		change(&c.resources[0].corrupt)
		now := c.corruptChanges()
		if now <= last {
			t.Errorf("%s: %d after %d", what, now, last)
		}
		last = now
	}
}
