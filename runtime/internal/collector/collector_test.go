package collector

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestDeathBetweenWrites ends the process before each of the writes that a cascade needs, in turn. Whoever comes next
// brings it to the same end.
func TestDeathBetweenWrites(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationForeground,
		metav1.DeletePropagationOrphan, metav1.DeletePropagationBackground} {
		deaths := 0
		for n := int64(1); ; n++ {
			w := newWorld(t, true)
			w.create("trees/oak")
			w.create("trees/elm")
			for i := range 3 {
				w.create(fmt.Sprintf("twigs/ns/t%d", i), "trees/oak:blocks")
				w.create(fmt.Sprintf("leafs/ns/l%d", i), fmt.Sprintf("twigs/ns/t%d:blocks", i))
				w.create(fmt.Sprintf("leafs/ns/kept%d", i), "trees/oak:blocks", "trees/elm")
			}
			w.delete("trees/oak", policy)
			w.backend.writes.Store(0)
			w.backend.dying.Store(n)
			w.start(1)
			w.settleOrDie()
			died := w.backend.writes.Load() >= n
			w.backend.dying.Store(0)
			w.start(2)
			w.settle()
			want := "leafs/ns/kept0 trees/elm*\nleafs/ns/kept1 trees/elm*\nleafs/ns/kept2 trees/elm*\ntrees/elm"
			want = strings.ReplaceAll(want, "*", "")
			if policy == metav1.DeletePropagationOrphan {
				want = "leafs/ns/kept0 trees/elm\nleafs/ns/kept1 trees/elm\nleafs/ns/kept2 trees/elm\nleafs/ns/l0 " +
					"twigs/t0*\nleafs/ns/l1 twigs/t1*\nleafs/ns/l2 twigs/t2*\n" +
					"trees/elm\ntwigs/ns/t0\ntwigs/ns/t1\ntwigs/ns/t2"
			}
			if got := w.list(); got != want {
				t.Fatalf("%s, death before write %d: got\n%s", policy, n, got)
			}
			if !died {
				break
			}
			deaths++
		}
		if deaths < 7 {
			t.Errorf("%s: only %d writes", policy, deaths)
		}
	}
}

// TestDeletionOfUnknown: reads from the cache are as new as each deletion, of objects that nothing refers to as well.
// A reference may come to the graph later, and the cache must not show its owner then.
func TestDeletionOfUnknown(t *testing.T) {
	w := newWorld(t, true)
	w.start(1)
	w.settle()
	w.create("trees/oak")
	w.delete("trees/oak", "")
	revision, err := w.backend.Revision(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.settle()
	for _, r := range w.collectors[0].resources {
		if floor := r.floor.Load(); r.gr.Resource == "trees" && floor < revision {
			t.Errorf("reads may be as old as revision %d, and the deletion is of %d", floor, revision)
		}
	}
}

// TestThousandDependents: one owner's dependents ask storage for it once, and all go.
func TestThousandDependents(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationBackground,
		metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
		t.Run(string(policy), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, true)
			w.create("trees/oak")
			for i := range 1000 {
				w.create(fmt.Sprintf("leafs/ns/l%d", i), "trees/oak:blocks")
			}
			w.start(1)
			w.settle()
			w.delete("trees/oak", policy)
			w.settle()
			stats, left := w.collectors[0].Stats(), strings.Count(w.list(), "leafs/")
			wanted := Stats{Deleted: 1000, Finalized: 1}
			switch policy {
			case metav1.DeletePropagationBackground:
				wanted.Finalized = 0
			case metav1.DeletePropagationOrphan:
				wanted = Stats{Unlinked: 1000, Finalized: 1}
			}
			stats.Failed, stats.Queued = 0, 0
			if stats != wanted || left != int(wanted.Unlinked) {
				t.Errorf("%+v, %d are left", stats, left)
			}
		})
	}
}

// TestOwnersOnlyAreRemembered: what has no owners costs no memory.
func TestOwnersOnlyAreRemembered(t *testing.T) {
	w := newWorld(t, true)
	w.start(1)
	w.create("trees/oak")
	for i := range 100 {
		w.create(fmt.Sprintf("leafs/ns/l%d", i))
	}
	w.create("leafs/ns/owned", "trees/oak")
	w.settle()
	if n := w.collectors[0].Stats().Objects; n != 1 {
		t.Errorf("%d objects are remembered", n)
	}
	w.patch("leafs/ns/owned", `{"metadata":{"ownerReferences":null}}`)
	w.settle()
	if g := w.collectors[0].graph; g.len() != 0 || len(g.dependents) != 0 {
		t.Errorf("%d objects and %d owners are remembered", g.len(), len(g.dependents))
	}
}

// TestOrphansAreAllFound: dependents that were there when their owner's deletion began are orphaned, never deleted,
// however far behind the watch of their resource is.
func TestOrphansAreAllFound(t *testing.T) {
	for _, cached := range []bool{true, false} {
		w := newWorld(t, cached)
		w.start(2)
		for i := range 30 {
			w.create(fmt.Sprintf("trees/t%d", i))
			w.create(fmt.Sprintf("leafs/ns/l%d", i), fmt.Sprintf("trees/t%d", i))
			w.create(fmt.Sprintf("twigs/ns/l%d", i), fmt.Sprintf("trees/t%d", i))
			w.delete(fmt.Sprintf("trees/t%d", i), metav1.DeletePropagationOrphan)
		}
		w.settle()
		if got := w.list(); strings.Count(got, "\n") != 59 || strings.Contains(got, "trees") {
			t.Errorf("got\n%s", got)
		}
	}
}

func TestGraph(t *testing.T) {
	tree, leaf := &resource{}, &resource{namespaced: true}
	trees, leaves := &kind{}, &kind{}
	trees.resource.Store(tree)
	leaves.resource.Store(leaf)
	owner := func(uid types.UID, blocks bool) reference {
		return reference{kind: trees, name: string(uid), uid: uid, blocks: blocks}
	}
	node := func(uid types.UID, leads bool, owners ...reference) *object {
		return &object{resource: tree, name: string(uid), uid: uid, deleting: leads, foreground: leads, owners: owners}
	}
	for _, c := range []struct {
		name    string
		objects []*object
		blocked string // uids
	}{
		{"nobody depends", []*object{node("a", true)}, ""},
		{"blocked by what is not deleted", []*object{node("a", true), node("b", false, owner("a", true))}, "a"},
		{"not by what doesn't block", []*object{node("a", true), node("b", false, owner("a", false))}, ""},
		{"nor by what refers to another", []*object{node("a", true),
			node("b", false, reference{kind: leaves, name: "a", uid: "a", blocks: true})}, ""},
		{"nor by another name", []*object{node("a", true), node("b", false,
			reference{kind: trees, name: "x", uid: "a", blocks: true})}, ""},
		{"a chain", []*object{node("a", true), node("b", true, owner("a", true)),
			node("c", true, owner("b", true))}, "a b"},
		{"a ring", []*object{node("a", true, owner("c", true)), node("b", true, owner("a", true)),
			node("c", true, owner("b", true))}, ""},
		{"a ring that isn't all deleted", []*object{node("a", true, owner("c", true)),
			node("b", true, owner("a", true)), node("c", false, owner("b", true))}, "a b"},
		{"a ring with a leaf", []*object{node("a", true, owner("b", true)), node("b", true, owner("a", true)),
			node("l", true, owner("b", true))}, "a b"},
		{"in front of a ring", []*object{node("f", true), node("a", true, owner("b", true), owner("f", true)),
			node("b", true, owner("a", true))}, "f"},
		{"itself", []*object{node("a", true, owner("a", true))}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := newGraph()
			for _, o := range c.objects {
				g.put(o)
			}
			var blocked []string
			for _, o := range c.objects {
				if o.isForeground() && g.blocked(o) {
					blocked = append(blocked, string(o.uid))
				}
			}
			if got := strings.Join(blocked, " "); got != c.blocked {
				t.Errorf("blocked are %q, want %q", got, c.blocked)
			}
			for _, o := range c.objects {
				g.remove(o.uid)
			}
			if len(g.objects) != 0 || len(g.dependents) != 0 || g.counts[tree] != 0 {
				t.Errorf("left: %+v", g)
			}
		})
	}
}

func TestQueue(t *testing.T) {
	q := newQueue()
	q.add("a", "b", "a")
	if q.len() != 2 {
		t.Fatal(q.len())
	}
	uid, _ := q.take()
	q.add(uid) // while it runs: once more
	if q.done(uid, 0, false); q.len() != 2 {
		t.Fatal(q.len())
	}
	for range 2 {
		next, ok := q.take()
		if !ok {
			t.Fatal("closed")
		}
		q.done(next, 0, false)
	}
	if q.len() != 0 {
		t.Fatal(q.len())
	}
	q.add("c")
	for want := 1; want < 4; want++ { // what fails comes again by itself
		uid, _ = q.take()
		if tries := q.done(uid, 0, true); tries != want || uid != "c" {
			t.Fatalf("%s: %d tries", uid, tries)
		}
	}
	q.add("c") // and at once where something happens
	uid, _ = q.take()
	q.done(uid, time.Hour, false)
	q.add("c")
	if uid, _ = q.take(); uid != "c" {
		t.Fatal(uid)
	}
	q.done(uid, time.Hour, false)
	q.close()
	if _, ok := q.take(); ok {
		t.Error("a closed queue gave something")
	}
}
