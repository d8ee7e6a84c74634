package cache

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bare is an entry with nothing but a key and a revision; corrupt where the revision is negative.
func bare(s *shared, key string, revision int64) *Entry {
	if revision < 0 {
		return newCorrupt(s, key, -revision, errors.New("bad"))
	}
	return newEntry(s, key, revision, Record{})
}

// TestSnapshotsAgainstModel does random writes to a tree and a map, keeps frozen roots, and asks snapshots of them and
// the map the same questions.
func TestSnapshotsAgainstModel(t *testing.T) {
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			s := &shared{}
			model := map[string]*Entry{}
			tr := buildTree(nil, byKey)
			if seed%2 == 1 {
				tr, model = grownTree(s, r)
			}
			type frozen struct {
				root  *node
				model map[string]*Entry
			}
			var kept []frozen
			for step := range 6000 {
				key := fmt.Sprintf("/p%d/%03d", r.IntN(3), r.IntN(400))
				// The share of removals swings, so that the tree grows and shrinks to nothing.
				if r.IntN(100) < 30+40*(step/1500%2) {
					if got := tr.remove(position{key: key}); got != model[key] {
						t.Fatalf("step %d: remove(%s) is %v, not %v", step, key, got, model[key])
					}
					delete(model, key)
				} else {
					e := bare(s, key, int64(step)+1)
					if r.IntN(20) == 0 {
						e = bare(s, key, -int64(step)-1)
					}
					if got := tr.set(e); got != model[key] {
						t.Fatalf("step %d: set(%s) replaces %v, not %v", step, key, got, model[key])
					}
					model[key] = e
				}
				if step%500 == 0 {
					kept = append(kept, frozen{tr.Freeze(), maps.Clone(model)})
				}
				if step%150 == 0 {
					compareSnapshot(t, tr.Freeze(), model, r)
				}
			}
			for _, f := range kept {
				compareSnapshot(t, f.root, f.model, r)
			}
			for key := range model {
				tr.remove(position{key: key})
			}
			if root := tr.Freeze(); root != nil {
				t.Errorf("after all was removed, %d entries are left", root.Len())
			}
		})
	}
}

func grownTree(s *shared, r *rand.Rand) (tree, map[string]*Entry) {
	model := map[string]*Entry{}
	var entries []*Entry
	for i := range r.IntN(2500) {
		e := bare(s, fmt.Sprintf("/p%d/%03dx", i/1000, i%1000), 1)
		model[e.Key()] = e
		entries = append(entries, e)
	}
	return buildTree(entries, byKey), model
}

func compareSnapshot(t *testing.T, root *node, model map[string]*Entry, r *rand.Rand) {
	t.Helper()
	if err := verifyTree(root); err != nil {
		t.Fatal(err)
	}
	snapshot := &Snapshot{root: root}
	keys := slices.Sorted(maps.Keys(model))
	for range 4 {
		prefix := []string{"/p0/", "/p1/", "/p2/", "/", "", "/p1/1", "\xff", "/p9/", "/p2/\xff\xff"}[r.IntN(9)]
		from := []string{"", prefix, prefix + "2", "/p1/200", "/p1/200\x00"}[r.IntN(5)]
		var want, corrupt []string
		for _, k := range keys {
			if strings.HasPrefix(k, prefix) && model[k].Err() != nil {
				corrupt = append(corrupt, k)
			}
			if strings.HasPrefix(k, prefix) && k >= from {
				want = append(want, k)
			}
		}
		var got []string
		for e := range snapshot.Entries(prefix, from) {
			got = append(got, e.Key())
			if snapshot.Get(e.Key()) != e || model[e.Key()] != e {
				t.Fatalf("%s is another entry", e.Key())
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("Entries(%q, %q) are %v, not %v", prefix, from, got, want)
		}
		if n := snapshot.Count(prefix, from); n != len(want) {
			t.Fatalf("Count(%q, %q) is %d, not %d", prefix, from, n, len(want))
		}
		for _, n := range []int{-1, 0, len(want) / 2, len(want) - 1, len(want)} {
			e := snapshot.Nth(prefix, from, n)
			if n < 0 || n >= len(want) {
				if e != nil {
					t.Fatalf("Nth(%q, %q, %d) is %s, of %d", prefix, from, n, e.Key(), len(want))
				}
			} else if e != model[want[n]] {
				t.Fatalf("Nth(%q, %q, %d) is not %s", prefix, from, n, want[n])
			}
		}
		switch e := snapshot.Corrupt(prefix); {
		case e == nil && len(corrupt) > 0, e != nil && (len(corrupt) == 0 || e.Key() != corrupt[0]):
			t.Fatalf("Corrupt(%q) is %v, not the first of %v", prefix, e, corrupt)
		}
		for range snapshot.Entries(prefix, from) {
			break // may end early
		}
	}
}

func BenchmarkTreeWrite(b *testing.B) {
	s := &shared{}
	entries := make([]*Entry, 100_000)
	for i := range entries {
		entries[i] = bare(s, fmt.Sprintf("/registry/toys/ns%02d/toy-%05d", i/1000, i), 1)
	}
	tr := buildTree(entries, byKey)
	r := rand.New(rand.NewPCG(1, 1))
	b.ReportAllocs()
	for b.Loop() {
		tr.set(entries[r.IntN(len(entries))])
		tr.Freeze()
	}
}

func BenchmarkCount(b *testing.B) {
	s := &shared{}
	entries := make([]*Entry, 100_000)
	for i := range entries {
		entries[i] = bare(s, fmt.Sprintf("/registry/toys/ns%02d/toy-%05d", i/1000, i), 1)
	}
	tr := buildTree(entries, byKey)
	snapshot := &Snapshot{root: tr.Freeze()}
	b.ReportAllocs()
	for b.Loop() {
		if snapshot.Count("/registry/toys/ns50/", "/registry/toys/ns50/toy-50500") != 500 {
			b.Fatal("wrong")
		}
	}
}
