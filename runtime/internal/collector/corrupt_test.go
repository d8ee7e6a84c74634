package collector

import (
	"testing"

	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// spoil makes an object unreadable in storage, until mend is called.
func (w *world) spoil(path string) (mend func()) {
	w.Helper()
	key := "/registry/wood.example.com/" + path
	put := func(value []byte) []byte {
		w.Helper()
		kv, _, err := w.backend.Get(w.Context(), key, storage.GetOptions{})
		if err != nil || kv == nil {
			w.Fatal(path, err)
		}
		if _, err := w.backend.Put(w.Context(), key, value, kv.Revision, 0); err != nil {
			w.Fatal(err)
		}
		return kv.Value
	}
	whole := put([]byte("\x00 nobody reads this"))
	return func() { put(whole) }
}

// beside runs a test with the cache and without, and with collectors that are there before something is spoilt, and
// after.
func beside(t *testing.T, test func(w *world, spoil func(path string) (mend func()))) {
	for kind, cached := range map[string]bool{"cache": true, "bare": false} {
		for when, early := range map[string]bool{"seen": true, "found": false} {
			t.Run(kind+"/"+when, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cached)
				if early {
					w.start(1)
				}
				test(w, func(path string) func() {
					if early {
						w.settle()
					}
					mend := w.spoil(path)
					if !early {
						w.start(1)
					}
					w.until(func(s Stats) bool { return s.Corrupt == 1 })
					return mend
				})
			})
		}
	}
}

// What can't be read holds up no cascade, also one that would have reached it; it is made up for once it can be.
func TestUnreadableHoldsUpNoCascade(t *testing.T) {
	beside(t, func(w *world, spoil func(string) func()) {
		w.create("twigs/ns/stem")
		w.create("leafs/ns/a", "twigs/ns/stem:blocks")
		w.create("leafs/ns/broken", "twigs/ns/stem:blocks")
		w.create("trees/oak")
		w.create("leafs/ns/b", "trees/oak")
		w.create("trees/elm")
		w.create("leafs/ns/safe", "trees/elm")
		mend := spoil("leafs/ns/broken")
		w.delete("twigs/ns/stem", metav1.DeletePropagationForeground)
		w.delete("trees/oak", metav1.DeletePropagationBackground)
		w.settle()
		for _, path := range []string{"twigs/ns/stem", "leafs/ns/a", "trees/oak", "leafs/ns/b"} {
			if w.meta(path) != nil {
				w.Errorf("%s is still there", path)
			}
		}
		mend()
		w.until(func(s Stats) bool { return s.Corrupt == 0 })
		w.settle()
		if got := w.list(); got != "leafs/ns/safe trees/elm\ntrees/elm" {
			w.Errorf("got\n%s", got)
		}
	})
}

// An owner that leaves its dependents behind waits for what could be one of them, and for nothing else.
func TestOrphaningWaitsForUnreadable(t *testing.T) {
	for owner, held := range map[string]bool{"twigs/ns/stem": true, "twigs/elsewhere/stem": false, "trees/oak": true} {
		beside(t, func(w *world, spoil func(string) func()) {
			w.create(owner)
			if held {
				w.create("leafs/ns/broken", owner)
			} else {
				w.create("leafs/ns/broken")
			}
			mend := spoil("leafs/ns/broken")
			w.delete(owner, metav1.DeletePropagationOrphan)
			if held {
				w.until(func(s Stats) bool { return s.Failed > 0 })
				if w.meta(owner) == nil {
					w.Errorf("%s went", owner)
				}
			} else {
				w.settle()
				if w.meta(owner) != nil {
					w.Errorf("%s is still there", owner)
				}
			}
			mend()
			w.until(func(s Stats) bool { return s.Corrupt == 0 })
			w.settle()
			if got := w.list(); got != "leafs/ns/broken" {
				w.Errorf("%s: got\n%s", owner, got)
			}
		})
	}
}

// What is removed unread is gone for whoever waited for it, and for whoever depended on it.
func TestUnreadableIsRemoved(t *testing.T) {
	beside(t, func(w *world, spoil func(string) func()) {
		w.create("twigs/ns/stem")
		w.create("leafs/ns/broken")
		w.create("leafs/ns/a", "leafs/ns/broken")
		spoil("leafs/ns/broken")
		w.delete("twigs/ns/stem", metav1.DeletePropagationOrphan)
		w.until(func(s Stats) bool { return s.Failed > 0 })
		if w.meta("leafs/ns/a") == nil {
			w.Error("the dependent of what can't be read went")
		}
		options := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: form}, IgnoreReadErrors: true}
		if _, err := w.handle("leafs").Delete(w.Context(), "ns", "broken", options); err != nil {
			w.Fatal(err)
		}
		w.until(func(s Stats) bool { return s.Corrupt == 0 })
		w.settle()
		if got := w.list(); got != "" {
			w.Errorf("got\n%s", got)
		}
	})
}
