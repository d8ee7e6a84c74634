package btree

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// item is a value of the trees in these tests.
type item struct {
	key    string
	marked bool
}

// state says what became of a leaf.
type state struct{ made, replaced, dropped bool }

type (
	node   = Node[string, *item, state]
	writer = Tree[string, *item, state]
)

var byKey = &Order[string, *item]{
	Key:         func(v *item) string { return v.key },
	Compare:     func(v *item, key string) int { return strings.Compare(v.key, key) },
	CompareKeys: strings.Compare,
	Marked:      func(v *item) bool { return v.marked },
}

// ledger records what hooks are told.
type ledger struct {
	t    *testing.T
	live int // leaves that were made and neither replaced nor dropped
}

func (l *ledger) hooks() Hooks[state] {
	return Hooks[state]{
		Made: func(leaf, from *state) {
			if *leaf != (state{}) || from != nil && (!from.made || from.dropped) {
				l.t.Errorf("a leaf that is %+v is made of one that is %+v", *leaf, from)
			}
			leaf.made = true
			l.live++
		},
		Replaced: func(leaf *state) { l.end(leaf, &leaf.replaced) },
		Dropped:  func(leaf *state) { l.end(leaf, &leaf.dropped) },
	}
}

func (l *ledger) end(leaf *state, how *bool) {
	if !leaf.made || leaf.replaced || leaf.dropped {
		l.t.Errorf("a leaf ends that is %+v", *leaf)
	}
	*how = true
	l.live--
}

// check compares what the hooks were told with the leaves of a tree.
func (l *ledger) check(root *node) {
	l.t.Helper()
	leaves := 0
	root.Leaves("", "", func(leaf *node, _, _ int) bool {
		if leaves++; *leaf.Attachment() != (state{made: true}) {
			l.t.Fatalf("a leaf of the tree is %+v", *leaf.Attachment())
		}
		return true
	})
	if leaves != l.live {
		l.t.Fatalf("the tree has %d leaves, the hooks know of %d", leaves, l.live)
	}
}

// TestAgainstModel does random writes to a tree and a map, keeps frozen roots, and compares the answers of all of them.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			leaves := &ledger{t: t}
			model := map[string]*item{}
			if seed%2 == 1 {
				for i := range r.IntN(2500) {
					key := fmt.Sprintf("/p%d/%03dx", i/1000, i%1000)
					model[key] = &item{key: key}
				}
			}
			tree := Build(byKey, leaves.hooks(), sorted(model))
			type frozen struct {
				root  *node
				model map[string]*item
			}
			var kept []frozen
			for step := range 6000 {
				key := fmt.Sprintf("/p%d/%03d", r.IntN(3), r.IntN(400))
				// The share of removals swings, so that the tree grows and shrinks to nothing.
				if r.IntN(100) < 30+40*(step/1500%2) {
					remove(t, &tree, model, key)
				} else {
					set(t, &tree, model, &item{key: key, marked: r.IntN(20) == 0})
				}
				if step%500 == 0 {
					kept = append(kept, frozen{tree.Freeze(), maps.Clone(model)})
				}
				if step%150 == 0 {
					compare(t, tree.root, model, r)
					leaves.check(tree.root)
				}
			}
			for _, f := range kept {
				compare(t, f.root, f.model, r)
			}
			for _, v := range sorted(model) {
				remove(t, &tree, model, v.key)
			}
			if tree.Freeze() != nil || leaves.live != 0 {
				t.Errorf("after all was removed, %d values and %d leaves are left", tree.root.Len(), leaves.live)
			}
		})
	}
}

// FuzzWrites takes each pair of bytes for a write, and compares the tree with a map after the last one.
func FuzzWrites(f *testing.F) {
	f.Add([]byte{0, 1, 0, 2, 1, 1, 2, 0})
	grow, shrink := make([]byte, 0, 1024), make([]byte, 0, 1024)
	for i := range 256 {
		grow = append(grow, 0, byte(i))
		shrink = append(shrink, 1, byte(i*7))
	}
	f.Add(append(grow, shrink...))
	f.Fuzz(func(t *testing.T, writes []byte) {
		leaves := &ledger{t: t}
		model := map[string]*item{}
		tree := Edit[string, *item](nil, byKey, leaves.hooks())
		for ; len(writes) >= 2; writes = writes[2:] {
			key := fmt.Sprintf("%03d", writes[1])
			switch writes[0] % 4 {
			case 1:
				remove(t, &tree, model, key)
			case 2:
				tree.Freeze()
			default:
				set(t, &tree, model, &item{key: key, marked: writes[0]%4 == 3})
			}
		}
		compare(t, tree.root, model, rand.New(rand.NewPCG(1, 2)))
		leaves.check(tree.root)
	})
}

// TestEditLeavesTheOldState: a tree over a frozen root doesn't change what others read.
func TestEditLeavesTheOldState(t *testing.T) {
	model := map[string]*item{}
	for i := range 500 {
		key := fmt.Sprintf("%03d", i)
		model[key] = &item{key: key}
	}
	first := Build(byKey, Hooks[state]{}, sorted(model))
	root, then := first.Freeze(), maps.Clone(model)
	second := Edit(root, byKey, Hooks[state]{})
	for i := range 250 {
		remove(t, &second, model, fmt.Sprintf("%03d", i*2))
	}
	r := rand.New(rand.NewPCG(1, 3))
	compare(t, root, then, r)
	compare(t, second.Freeze(), model, r)
}

// TestVerifyFindsDamage: each kind of damage to a sound tree is named.
func TestVerifyFindsDamage(t *testing.T) {
	for name, damage := range map[string]func(*node){
		"order": func(n *node) {
			leaf := n.children[1]
			leaf.values[0], leaf.values[1] = leaf.values[1],
				leaf.values[0]
		},
		"bounds": func(n *node) { n.children[1].low = "000" },
		"count":  func(n *node) { n.count++ },
		"marked": func(n *node) { n.children[0].values[3].marked = true },
		"depth": func(n *node) {
			c := n.children[2]
			n.children[2] = (&node{order: byKey, low: c.low, children: []*node{c}}).sum()
		},
		"size": func(n *node) { n.children[0].values = nil },
	} {
		t.Run(name, func(t *testing.T) {
			var values []*item
			for i := range 200 {
				values = append(values, &item{key: fmt.Sprintf("%03d", i)})
			}
			tree := Build(byKey, Hooks[state]{}, values)
			root := tree.Freeze()
			if err := root.Verify(); err != nil {
				t.Fatal(err)
			}
			damage(root)
			if root.Verify() == nil {
				t.Error("Verify finds nothing")
			}
		})
	}
}

func set(t *testing.T, tree *writer, model map[string]*item, v *item) {
	t.Helper()
	if got, replaced := tree.Set(v); got != model[v.key] || replaced != (got != nil) {
		t.Fatalf("Set(%s) replaces %v, %t, not %v", v.key, got, replaced, model[v.key])
	}
	model[v.key] = v
}

func remove(t *testing.T, tree *writer, model map[string]*item, key string) {
	t.Helper()
	if got, removed := tree.Remove(key); got != model[key] || removed != (got != nil) {
		t.Fatalf("Remove(%s) is %v, %t, not %v", key, got, removed, model[key])
	}
	delete(model, key)
}

func sorted(model map[string]*item) []*item {
	var values []*item
	for _, key := range slices.Sorted(maps.Keys(model)) {
		values = append(values, model[key])
	}
	return values
}

// compare asks a tree and a model the same questions.
func compare(t *testing.T, root *node, model map[string]*item, r *rand.Rand) {
	t.Helper()
	if err := root.Verify(); err != nil {
		t.Fatal(err)
	}
	all := sorted(model)
	if root.Len() != len(all) {
		t.Fatalf("Len is %d, not %d", root.Len(), len(all))
	}
	bounds := []string{"", "/p0/", "/p1", "/p1/2", "/p1/200", "/p1/200\x00", "/p2/399", "\xff", "1", "120", "2"}
	for range 6 {
		from, end := bounds[r.IntN(len(bounds))], bounds[r.IntN(len(bounds))]
		var want, marked []*item
		for _, v := range all {
			if v.key >= from && (end == "" || v.key < end) {
				if want = append(want, v); v.marked {
					marked = append(marked, v)
				}
			}
		}
		var got []*item
		root.Leaves(from, end, func(leaf *node, first, last int) bool {
			got = append(got, leaf.Values()[first:last]...)
			return true
		})
		if !slices.Equal(got, want) {
			t.Fatalf("from %q to %q are %d values, not %d", from, end, len(got), len(want))
		}
		switch v, found := root.FirstMarked(from, end); {
		case found != (len(marked) > 0), found && v != marked[0]:
			t.Fatalf("FirstMarked(%q, %q) is %v, not the first of %d", from, end, v, len(marked))
		}
		root.Leaves(from, end, func(*node, int, int) bool { return false }) // may end early
	}
	for range 20 {
		rank := r.IntN(len(all)+2) - 1
		v, found := root.Nth(rank)
		if inside := rank >= 0 && rank < len(all); found != inside || inside && v != all[rank] {
			t.Fatalf("Nth(%d) is %v, %t, of %d", rank, v, found, len(all))
		}
		if !found {
			continue
		}
		if got, found := root.Get(v.key); !found || got != v || root.Rank(v.key) != rank ||
			root.Rank(v.key+"\x00") != rank+1 {
			t.Fatalf("%s: Get is %v, Rank %d, not %d", v.key, got, root.Rank(v.key), rank)
		}
	}
	for _, key := range bounds {
		if got, found := root.Get(key); got != model[key] || found != (got != nil) {
			t.Fatalf("Get(%q) is %v, %t", key, got, found)
		}
	}
}

func grown() ([]*item, writer) {
	values := make([]*item, 100_000)
	for i := range values {
		values[i] = &item{key: fmt.Sprintf("/registry/toys/ns%02d/toy-%05d", i/1000, i)}
	}
	return values, Build(byKey, Hooks[state]{}, values)
}

func BenchmarkSet(b *testing.B) {
	values, tree := grown()
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		tree.Set(values[r.IntN(len(values))])
		tree.Freeze()
	}
}

func BenchmarkGet(b *testing.B) {
	values, tree := grown()
	root := tree.Freeze()
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		if _, found := root.Get(values[r.IntN(len(values))].key); !found {
			b.Fatal("a value is missing")
		}
	}
}

func BenchmarkRank(b *testing.B) {
	_, tree := grown()
	root := tree.Freeze()
	b.ReportAllocs()
	for b.Loop() {
		if root.Rank("/registry/toys/ns51/")-root.Rank("/registry/toys/ns50/toy-50500") != 500 {
			b.Fatal("wrong")
		}
	}
}

func BenchmarkLeaves(b *testing.B) {
	_, tree := grown()
	root := tree.Freeze()
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		root.Leaves("/registry/toys/ns50/", "/registry/toys/ns51/", func(_ *node, first, last int) bool {
			n += last - first
			return true
		})
		if n != 1000 {
			b.Fatal("wrong")
		}
	}
}
