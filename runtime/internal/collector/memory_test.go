package collector

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"apigen.dev/runtime/internal/verb"
)

// remembering is a resource that notes how old what it reads from memory may be.
type remembering struct {
	verb.Handle
	mu       sync.Mutex // guards versions
	versions []string
}

func (r *remembering) Get(
	ctx context.Context, namespace, name, version string, form verb.Form,
) (verb.Rendition, error) {
	if version != "" {
		r.mu.Lock()
		r.versions = append(r.versions, version)
		r.mu.Unlock()
	}
	return r.Handle.Get(ctx, namespace, name, version, form)
}

// TestMemoryIsNoOlderThanTheGraph: the state with which a watch begins may come from storage while memory lags behind
// it. An owner that is gone from the one and still in the other must not be taken to be there.
func TestMemoryIsNoOlderThanTheGraph(t *testing.T) {
	w := newWorld(t, true)
	var trees *remembering
	for i, h := range w.handles {
		if h.Info().Names.Plural == "trees" {
			trees = &remembering{Handle: h}
			w.handles[i] = trees
		}
	}
	w.create("trees/oak")
	w.create("twigs/ns/one", "trees/oak")
	state, err := w.backend.Revision(w.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.start(1)
	w.settle()
	trees.mu.Lock()
	defer trees.mu.Unlock()
	if len(trees.versions) == 0 {
		t.Fatal("the owner was not looked for")
	}
	for _, version := range trees.versions {
		if n, err := strconv.ParseInt(version, 10, 64); err != nil || n < state {
			t.Errorf("read from memory not older than %s (%v), where the watch began with %d", version, err, state)
		}
	}
}
