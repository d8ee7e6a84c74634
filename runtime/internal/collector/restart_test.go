package collector

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fragile is a resource whose watches can be broken, and are then refused until it is mended.
type fragile struct {
	verb.Handle
	mu     sync.Mutex
	broken chan struct{} // closed while it is
}

var errBroken = errors.New("the watch broke")

func (f *fragile) state() chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.broken
}

func (f *fragile) mend() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = make(chan struct{})
}

func (f *fragile) Watch(ctx context.Context, namespace string, opts api.WatchOptions, form verb.Form) (verb.Watch,
	error) {
	broken := f.state()
	select {
	case <-broken:
		return nil, errBroken
	default:
	}
	w, err := f.Handle.Watch(ctx, namespace, opts, form)
	return &fragileWatch{w, broken}, err
}

type fragileWatch struct {
	verb.Watch
	broken chan struct{}
}

func (w *fragileWatch) Revision() int64                 { return w.Watch.(verb.Paced).Revision() }
func (w *fragileWatch) Hurry(ctx context.Context) error { return w.Watch.(verb.Paced).Hurry(ctx) }

func (w *fragileWatch) Next(ctx context.Context) ([]verb.Event, error) {
	bound, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		select {
		case <-w.broken:
			cancel()
		case <-bound.Done():
		}
	}()
	events, err := w.Watch.Next(bound)
	select {
	case <-w.broken:
		return nil, errBroken
	default:
		return events, err
	}
}

// breakable makes a resource of the world fragile.
func (w *world) breakable(plural string) *fragile {
	for i, h := range w.handles {
		if h.Info().Names.Plural == plural {
			f := &fragile{Handle: h, broken: make(chan struct{})}
			w.handles[i] = f
			return f
		}
	}
	w.Fatal(plural)
	return nil
}

// until waits for what the collector is to come to.
func (w *world) until(holds func(Stats) bool) {
	w.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for late := time.After(2 * time.Minute); !holds(w.collectors[0].Stats()); {
		select {
		case <-tick.C:
		case <-late:
			w.Fatalf("%+v", w.collectors[0].Stats())
		}
	}
}

// TestMissedDeletions: what happened while a watch was broken is made up for.
func TestMissedDeletions(t *testing.T) {
	w := newWorld(t, true)
	trees, twigs := w.breakable("trees"), w.breakable("twigs")
	w.start(1)
	w.create("trees/oak")
	w.create("twigs/ns/one", "trees/oak")
	w.create("leafs/ns/a", "twigs/ns/one")
	w.create("leafs/ns/b", "trees/oak")
	w.settle()
	close(trees.broken)
	close(twigs.broken)
	w.until(func(s Stats) bool { return s.Unfollowed == 2 })
	w.delete("trees/oak", metav1.DeletePropagationBackground)
	w.delete("twigs/ns/one", metav1.DeletePropagationBackground)
	trees.mend()
	twigs.mend()
	w.until(func(s Stats) bool { return s.Unfollowed == 0 })
	w.settle()
	if got := w.list(); got != "" || w.collectors[0].graph.len() != 0 {
		t.Errorf("got\n%s", got)
	}
}

// TestOrphaningWaitsForWatches: as long as dependents may be unknown, their owner doesn't go.
func TestOrphaningWaitsForWatches(t *testing.T) {
	for _, policy := range []metav1.DeletionPropagation{metav1.DeletePropagationOrphan,
		metav1.DeletePropagationForeground} {
		w := newWorld(t, true)
		leafs := w.breakable("leafs")
		w.start(1)
		w.create("trees/oak")
		w.settle()
		close(leafs.broken)
		w.until(func(s Stats) bool { return s.Unfollowed == 1 })
		w.create("leafs/ns/a", "trees/oak:blocks")
		w.delete("trees/oak", policy)
		w.until(func(s Stats) bool { return s.Failed > 0 })
		if w.meta("trees/oak") == nil {
			t.Errorf("%s: it went", policy)
		}
		leafs.mend()
		w.until(func(s Stats) bool { return s.Unfollowed == 0 })
		w.settle()
		want := map[metav1.DeletionPropagation]string{metav1.DeletePropagationOrphan: "leafs/ns/a"}[policy]
		if got := w.list(); got != want {
			t.Errorf("%s: got\n%s", policy, got)
		}
	}
}

// unwatched is a resource that can be read and not watched.
type unwatched struct{ verb.Handle }

func (u unwatched) Watch(context.Context, string, api.WatchOptions, verb.Form) (verb.Watch, error) {
	return nil, apierrors.NewMethodNotSupported(u.Info().GroupResource(), "watch")
}

// TestUnwatchedResources are left out: nothing waits for them, and who is owned by one of them is looked up.
func TestUnwatchedResources(t *testing.T) {
	w := newWorld(t, true)
	for i, h := range w.handles {
		if h.Info().Names.Plural == "twigs" {
			w.handles[i] = unwatched{h}
		}
	}
	w.create("twigs/ns/one")
	w.start(1)
	w.create("leafs/ns/a", "twigs/ns/one")
	w.create("leafs/ns/b", "!twigs/ns/two")
	w.create("trees/oak")
	w.delete("trees/oak", metav1.DeletePropagationForeground)
	w.settle()
	if got := w.list(); got != "leafs/ns/a twigs/one\ntwigs/ns/one" {
		t.Errorf("got\n%s", got)
	}
}

// lagging is a resource whose memory knows nothing yet.
type lagging struct{ verb.Handle }

func (l lagging) Get(ctx context.Context, namespace, name, resourceVersion string, form verb.Form) (verb.Rendition,
	error) {
	if resourceVersion != "" {
		return verb.Rendition{}, apierrors.NewNotFound(l.Info().GroupResource(), name)
	}
	return l.Handle.Get(ctx, namespace, name, resourceVersion, form)
}

// TestAbsenceIsConfirmed: an owner that memory doesn't show is there where storage has it.
func TestAbsenceIsConfirmed(t *testing.T) {
	w := newWorld(t, true)
	for i, h := range w.handles {
		w.handles[i] = lagging{h}
	}
	w.create("trees/oak")
	w.create("leafs/ns/a", "trees/oak")
	w.create("leafs/ns/b", "!trees/oak")
	w.start(1)
	w.settle()
	if got := w.list(); got != "leafs/ns/a trees/oak\ntrees/oak" {
		t.Errorf("got\n%s", got)
	}
}

// TestPanicsAreFailures: a user's function that panics fails what it was asked for, and is asked again.
func TestPanicsAreFailures(t *testing.T) {
	w := newWorld(t, true)
	for i, h := range w.handles {
		if h.Info().Names.Plural == "leafs" {
			w.handles[i] = &panicking{Handle: h}
		}
	}
	w.start(1)
	w.create("trees/oak")
	w.create("leafs/ns/a", "trees/oak")
	w.create("leafs/ns/b", "trees/oak")
	w.delete("trees/oak", metav1.DeletePropagationOrphan)
	w.settle()
	if got := w.list(); got != "leafs/ns/a\nleafs/ns/b" || w.collectors[0].Stats().Failed == 0 {
		t.Errorf("got\n%s", got)
	}
}

type panicking struct {
	verb.Handle
	once sync.Once
}

func (p *panicking) Patch(ctx context.Context, namespace, name, subresource string, kind verb.PatchType,
	body verb.Body, opts verb.WriteOptions) (verb.Result, error) {
	p.once.Do(func() { panic("a conversion that panics") })
	return p.Handle.Patch(ctx, namespace, name, subresource, kind, body, opts)
}

// racing is a resource of which an object changes between the decision to delete it and the deletion.
type racing struct {
	verb.Handle
	once   sync.Once
	change func()
}

func (r *racing) Delete(ctx context.Context, namespace, name string, opts verb.DeleteOptions) (verb.Deletion, error) {
	r.once.Do(r.change)
	return r.Handle.Delete(ctx, namespace, name, opts)
}

// TestOnlyWhatIsKnownIsDeleted: an object that got another owner, or gave its name to another, at the last moment
// stays.
func TestOnlyWhatIsKnownIsDeleted(t *testing.T) {
	for name, change := range map[string]func(w *world){
		"another owner": func(w *world) {
			w.patch("leafs/ns/a", `{"metadata":{"ownerReferences":[%s]}}`, w.reference("trees/oak"))
		},
		"another object": func(w *world) {
			w.delete("leafs/ns/a", metav1.DeletePropagationBackground)
			w.create("leafs/ns/a", "trees/oak")
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, true)
			w.create("trees/oak")
			w.create("leafs/ns/a", "!trees/elm")
			for i, h := range w.handles {
				if h.Info().Names.Plural == "leafs" {
					plain := &world{TB: w.TB, backend: w.backend, handles: slices.Clone(w.handles)}
					w.handles[i] = &racing{Handle: h, change: func() { change(plain) }}
				}
			}
			w.start(1)
			w.settle()
			if got := w.list(); got != "leafs/ns/a trees/oak\ntrees/oak" {
				t.Errorf("got\n%s", got)
			}
		})
	}
}
