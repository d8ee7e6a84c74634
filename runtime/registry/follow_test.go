package registry_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// replica is the state of widgets as a Follow tells it.
type replica struct {
	mu       sync.Mutex // guards what follows
	widgets  map[string]string
	revision int64
	resets   int
	faults   []string
	told     chan struct{}
}

func newReplica() *replica { return &replica{told: make(chan struct{}, 1)} }

func (r *replica) apply(c reach.Changes[*shop.Widget]) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.Reset {
		r.widgets = map[string]string{}
		r.resets++
	}
	seen := map[string]bool{}
	for _, w := range slices.Concat(c.Put, c.Deleted) {
		if seen[w.Name] {
			r.faults = append(r.faults, w.Name+" is there twice")
		}
		seen[w.Name] = true
	}
	if c.Revision < r.revision {
		r.faults = append(r.faults, fmt.Sprintf("%d after %d", c.Revision, r.revision))
	}
	for _, w := range c.Put {
		r.widgets[w.Name] = w.ResourceVersion
	}
	for _, w := range c.Deleted {
		delete(r.widgets, w.Name)
	}
	r.revision = c.Revision
	select {
	case r.told <- struct{}{}:
	default:
	}
}

// until waits until the replica meets a condition.
func (r *replica) until(t *testing.T, done func() bool) {
	t.Helper()
	for end := time.After(time.Minute); ; {
		r.mu.Lock()
		ok := done()
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-r.told:
		case <-end:
			t.Fatalf("the replica has %v at %d", r.widgets, r.revision)
		}
	}
}

// untilEqual waits until the replica has what a list has.
func (r *replica) untilEqual(t *testing.T, b *bench) {
	t.Helper()
	page, err := b.List(b.ctx(), "ns", verb.ListOptions{}, v1)
	if err != nil {
		t.Fatal(err)
	}
	defer page.Close()
	want := map[string]string{}
	for item := range page.Items {
		w := b.parse(item)
		want[w.Name] = w.ResourceVersion
	}
	r.until(t, func() bool { return maps.Equal(r.widgets, want) })
	if len(r.faults) > 0 {
		t.Error(r.faults)
	}
}

// follow runs a Follow until the test ends.
func follow(t *testing.T, h verb.Handle, changes func(reach.Changes[*shop.Widget])) {
	t.Helper()
	_, widgets := reachedFrom(t, h)
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- widgets.Follow(ctx, "", changes) }()
	t.Cleanup(func() {
		end()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("Follow ended with %v", err)
		}
	})
}

// TestFollow: who follows has all objects, and every change of them in order, whatever several clients write.
func TestFollow(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"early"}}`)
		b.create(`{"metadata":{"name":"brief"}}`)
		r := newReplica()
		follow(t, b.Handle, r.apply)
		r.untilEqual(t, b)
		if _, err := b.delete("brief", verb.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		var writers sync.WaitGroup
		for i := range 4 {
			writers.Go(func() {
				for n := range 40 {
					name := fmt.Sprint("w", (n*7+i)%11)
					switch n % 3 {
					case 0:
						_, _ = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"`+name+`"}}`),
							verb.WriteOptions{Form: v1})
					case 1:
						_, _ = b.patch(name, "", fmt.Sprintf(`{"spec":{"size":%d}}`, 1+n))
					case 2:
						_, _ = b.delete(name, verb.DeleteOptions{})
					}
				}
			})
		}
		writers.Wait()
		last := b.create(`{"metadata":{"name":"last"}}`)
		r.untilEqual(t, b)
		if r.resets != 1 || r.revision < mustInt(last.ResourceVersion) {
			t.Errorf("%d resets, at %d, want %s", r.resets, r.revision, last.ResourceVersion)
		}
	})
}

// TestFollowBeginsAnew: where the history is gone before it was told, Follow tells all objects again.
func TestFollowBeginsAnew(t *testing.T) {
	for name, config := range map[string]registry.Config{
		"cache": {}, "bare": {DisableCache: true},
	} {
		t.Run(name, func(t *testing.T) {
			config.Window.Max, config.Window.Min, config.Window.Fresh = 4, 4, time.Nanosecond
			b := openOver(t, memory.New(), registry.New(shop.Definition()), config)
			b.create(`{"metadata":{"name":"gone"}}`)
			r, blocked, resume := newReplica(), make(chan struct{}), make(chan struct{})
			var once sync.Once
			follow(t, b.Handle, func(c reach.Changes[*shop.Widget]) {
				r.apply(c)
				if !c.Reset {
					once.Do(func() { close(blocked); <-resume })
				}
			})
			r.until(t, func() bool { return r.resets == 1 })
			b.create(`{"metadata":{"name":"first"}}`)
			<-blocked
			if _, err := b.delete("gone", verb.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			last := ""
			for i := range 300 {
				last = b.create(fmt.Sprintf(`{"metadata":{"name":"w%d"}}`, i)).ResourceVersion
			}
			if err := b.backend.Compact(b.ctx(), mustInt(last)); err != nil {
				t.Fatal(err)
			}
			close(resume)
			r.until(t, func() bool { return r.revision >= mustInt(last) })
			r.untilEqual(t, b)
			if r.resets < 2 && name == "cache" {
				t.Errorf("%d resets", r.resets)
			}
		})
	}
}

// TestFollowOfCorruptObjects: an object that can't be read is gone for who follows, until it can be read again.
func TestFollowOfCorruptObjects(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		b.create(`{"metadata":{"name":"b"}}`)
		key := "/registry/shop.example.com/widgets/ns/a"
		value, revision, err := b.backend.Get(b.ctx(), key, storage.GetOptions{})
		if err != nil {
			t.Fatal(err, revision)
		}
		r := newReplica()
		follow(t, b.Handle, r.apply)
		r.untilEqual(t, b)
		corrupted, err := b.backend.Put(b.ctx(), key, []byte("junk"), value.Revision, 0)
		if err != nil {
			t.Fatal(err)
		}
		r.until(t, func() bool { return len(r.widgets) == 1 })
		late := newReplica()
		follow(t, b.Handle, late.apply)
		late.until(t, func() bool { return late.resets == 1 && len(late.widgets) == 1 })
		if _, err := b.backend.Put(b.ctx(), key, value.Value, corrupted, 0); err != nil {
			t.Fatal(err)
		}
		for _, each := range []*replica{r, late} {
			each.untilEqual(t, b)
		}
	})
}

// TestFollowVirtual: a kind without storage is followed where its provider has a list and a watch.
func TestFollowVirtual(t *testing.T) {
	r, closed := newReplica(), false
	shelf := newShelf("a", "b").provider()
	_, widgets := reachedFrom(t, openVirtual(t, shelf))
	if err := widgets.Follow(t.Context(), "", r.apply); !apierrors.IsMethodNotSupported(err) {
		t.Errorf("without a watch: %v", err)
	}
	type event = registry.WatchEvent[*shop.Widget]
	follow(t, openVirtual(t, registry.Provider[*shop.Widget]{
		List: func(context.Context, string, api.Selection) (*registry.List[*shop.Widget], error) {
			return &registry.List[*shop.Widget]{
				Items: []*shop.Widget{view("ns", "a", "red"), view("ns", "b", "red")}, ResourceVersion: "7",
			}, nil
		},
		Watch: func(_ context.Context, _ string, o api.WatchOptions) (registry.ObjectWatch[*shop.Widget], error) {
			if o.ResourceVersion != "7" {
				return nil, apierrors.NewResourceExpired(o.ResourceVersion)
			}
			return &script{[][]event{
				{
					{Type: api.Added, Object: view("ns", "c", "red")},
					{Type: api.Deleted, Object: view("ns", "c", "red")},
				},
				{{Type: api.Deleted, Object: view("ns", "a", "red")}},
			}, &closed}, nil
		},
	}), r.apply)
	r.until(t, func() bool { return strings.Join(slices.Sorted(maps.Keys(r.widgets)), " ") == "b" })
}

// TestAfterWrite: after each write that was stored, and before its answer, the function gets its revision.
func TestAfterWrite(t *testing.T) {
	for name, cached := range map[string]bool{"cache": true, "bare": false} {
		t.Run(name, func(t *testing.T) {
			var told []int64
			b := openOver(t, memory.New(), registry.New(shop.Definition()), registry.Config{
				DisableCache: !cached, AfterWrite: func(_ context.Context, r int64) { told = append(told, r) },
			})
			expect := func(what string, want ...int64) {
				t.Helper()
				if !slices.Equal(told, want) {
					t.Errorf("%s: told %v, want %v", what, told, want)
				}
				told = nil
			}
			made := mustInt(b.create(`{"metadata":{"name":"a"}}`).ResourceVersion)
			expect("create", made)
			if _, err := b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a"}}`),
				verb.WriteOptions{Form: v1}); !apierrors.IsAlreadyExists(err) {
				t.Error(err)
			}
			expect("a refused create")
			changed, err := b.patch("a", "", `{"spec":{"color":"red"},"metadata":{"finalizers":["example.com/x"]}}`)
			if err != nil {
				t.Fatal(err)
			}
			expect("patch", mustInt(changed.ResourceVersion))
			if changed, err = b.patch("a", "", `{"spec":{"color":"red"}}`); err != nil {
				t.Fatal(err)
			}
			expect("a patch that changes nothing", mustInt(changed.ResourceVersion))
			dry := verb.DeleteOptions{WriteOptions: verb.WriteOptions{DryRun: true}}
			if _, err := b.delete("a", dry); err != nil {
				t.Fatal(err)
			}
			expect("a dry run")
			marked, err := b.delete("a", verb.DeleteOptions{})
			if err != nil {
				t.Fatal(err)
			}
			at := mustInt(b.parse(marked.Object).ResourceVersion)
			expect("a deletion that waits", at)
			if _, err := b.patch("a", "", `{"metadata":{"finalizers":null}}`); err != nil {
				t.Fatal(err)
			}
			if len(told) != 1 || told[0] <= at {
				t.Errorf("the last finalizer: told %v", told)
			}
			told = nil
			for _, name := range []string{"b", "c"} {
				b.create(`{"metadata":{"name":"` + name + `"}}`)
			}
			expect("creates", at+2, at+3)
		})
	}
}
