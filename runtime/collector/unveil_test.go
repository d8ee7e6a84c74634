package collector

import (
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// What can be read again is hidden until the graph has it: an owner that leaves its dependents behind must find it in one
// of the two.
func TestUnveiledIsHiddenUntilTheGraphHasIt(t *testing.T) {
	w := newWorld(t, false)
	w.create("twigs/ns/stem")
	w.create("leafs/ns/broken", "twigs/ns/stem")
	c := New(w.handles, nil)
	r := c.kinds[schema.GroupKind{Group: "wood.example.com", Kind: "Leaf"}]
	name := hiddenName{"ns", "broken"}
	r.hidden.add(name)
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
		if !r.hidden.has(name) {
			t.Error("neither the graph has it nor is it hidden")
			break
		}
	}
	c.graph.mu.Unlock()
	if err := <-observed; err != nil || r.hidden.any() || c.graph.len() != 1 {
		t.Errorf("%v; hidden %d, in the graph %d", err, r.hidden.len(), c.graph.len())
	}
}

// Who saw an object neither hidden nor in the graph, since it went to and fro meanwhile, knows that it must look again.
func TestVeilsAreCounted(t *testing.T) {
	w := newWorld(t, false)
	c := New(w.handles, nil)
	last := c.veils()
	for what, change := range map[string]func(h *hidden){
		"add":    func(h *hidden) { h.add(hiddenName{"ns", "a"}) },
		"remove": func(h *hidden) { h.add(hiddenName{"ns", "b"}); h.remove(hiddenName{"ns", "b"}) },
		"forget": func(h *hidden) { h.forget() },
	} {
		change(&c.resources[0].hidden)
		now := c.veils()
		if now <= last {
			t.Errorf("%s: %d after %d", what, now, last)
		}
		last = now
	}
}
