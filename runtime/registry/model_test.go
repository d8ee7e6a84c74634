package registry_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// model is the naive truth: what each name holds, and each state that ever was.
type model struct {
	objects map[string]*shop.WidgetV1
	history map[string]string // resourceVersion → names
}

func (m *model) names() string {
	var names []string
	for name := range m.objects {
		names = append(names, name)
	}
	sort.Strings(names)
	return strings.Join(names, " ")
}

// step does one random operation on both and compares the answers.
func (m *model) step(b *bench, r *rand.Rand) {
	b.Helper()
	name := fmt.Sprintf("w%d", r.IntN(6))
	old := m.objects[name]
	size := r.Int64N(4) + 1
	var got *shop.WidgetV1
	var err error
	switch r.IntN(6) {
	case 0:
		var res verb.Result
		finalizer := ""
		if r.IntN(3) == 0 {
			finalizer = `,"finalizers":["x.example.com/y"]`
		}
		res, err = b.Create(b.ctx(), "ns", body(fmt.Sprintf(`{"metadata":{"name":%q%s},"spec":{"size":%d}}`, name,
			finalizer, size)), verb.WriteOptions{Form: v1})
		if old != nil {
			if !apierrors.IsAlreadyExists(err) {
				b.Fatalf("created %s twice: %v", name, err)
			}
			return
		}
		if err == nil {
			got = b.parse(res.Object)
		}
	case 1, 2:
		got, err = b.patch(name, "", fmt.Sprintf(`{"spec":{"size":%d}}`, size))
	case 3:
		got, err = b.patch(name, "status", fmt.Sprintf(`{"status":{"clicks":%d}}`, size))
	case 4:
		got, err = b.patch(name, "", `{"metadata":{"finalizers":null}}`)
	case 5:
		var d verb.Deletion
		d, err = b.delete(name, verb.DeleteOptions{})
		if err == nil && !d.Done {
			got = b.parse(d.Object)
		}
	}
	if old == nil && got == nil {
		if !apierrors.IsNotFound(err) {
			b.Fatalf("%s is absent, and the answer is %v", name, err)
		}
		return
	}
	if err != nil {
		b.Fatal(err)
	}
	m.settle(b, name, old, got)
}

// settle checks an answer against what was, and takes note of it.
func (m *model) settle(b *bench, name string, old, got *shop.WidgetV1) {
	b.Helper()
	gone := got == nil || old != nil && old.DeletionTimestamp != nil && len(got.Finalizers) == 0
	if gone {
		delete(m.objects, name)
		return
	}
	if old != nil {
		changed := old.Spec.Size != got.Spec.Size || (old.DeletionTimestamp == nil) != (got.DeletionTimestamp == nil)
		if bumped := got.Generation == old.Generation+1; bumped != changed || !bumped &&
			got.Generation != old.Generation {
			b.Fatalf("generation %d became %d with %+v → %+v", old.Generation, got.Generation, old, got)
		}
		before, after := *old, *got
		before.ResourceVersion, after.ResourceVersion = "", ""
		if (mustJSON(before) == mustJSON(after)) != (old.ResourceVersion == got.ResourceVersion) {
			b.Fatalf("%s → %s", mustJSON(old), mustJSON(got))
		}
		if got.UID != old.UID || !got.CreationTimestamp.Equal(&old.CreationTimestamp) {
			b.Fatalf("%+v became %+v", old, got)
		}
	}
	m.objects[name] = got
}

func TestAgainstAModel(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		for seed := range uint64(4) {
			r := rand.New(rand.NewPCG(seed, 7))
			m := &model{objects: map[string]*shop.WidgetV1{}, history: map[string]string{}}
			all, _ := b.names("ns", verb.ListOptions{})
			for name := range strings.FieldsSeq(all) {
				m.objects[name] = b.get(name)
			}
			for range 150 {
				m.step(b, r)
				names, page := b.names("ns", verb.ListOptions{})
				if names != m.names() {
					t.Fatalf("seed %d: listed %q, want %q", seed, names, m.names())
				}
				m.history[page.ResourceVersion] = names
			}
			for name, want := range m.objects {
				if got := b.get(name); mustJSON(got) != mustJSON(want) {
					t.Fatalf("seed %d: got %s\nwant %s", seed, mustJSON(got), mustJSON(want))
				}
			}
			for version, want := range m.history {
				got, _ := b.names("ns", verb.ListOptions{ResourceVersion: version,
					ResourceVersionMatch: metav1.ResourceVersionMatchExact})
				if got != want {
					t.Fatalf("seed %d: at %s listed %q, want %q", seed, version, got, want)
				}
			}
		}
	})
}

// TestConcurrentWritersLoseNothing lets writers count with and without resourceVersions, while watchers replay.
func TestConcurrentWritersLoseNothing(t *testing.T) {
	const writers, rounds = 4, 25
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"size":1}}`)
		w := b.watch(api.WatchOptions{})
		w.expect("ADDED a")
		var group sync.WaitGroup
		for i := range writers {
			group.Go(func() {
				for n := range rounds {
					for !b.count(i, n) {
					}
				}
			})
		}
		group.Wait()
		got := b.get("a")
		want := int64(1 + writers*(rounds-rounds/2))
		if got.Spec.Size != want || len(got.Spec.Notes) != writers*(rounds/2) {
			t.Errorf("size %d, want %d; %d notes, want %d", got.Spec.Size, want, len(got.Spec.Notes),
				writers*(rounds/2))
		}
		last := ""
		for last != got.ResourceVersion {
			w.expect("MODIFIED a")
			last = b.parse(w.last).ResourceVersion
		}
	})
}

// count adds one to size by an update with a resourceVersion, or a note by a patch without one.
func (b *bench) count(writer, n int) bool {
	if n%2 == 1 {
		if _, err := b.patch("a", "", fmt.Sprintf(`{"spec":{"notes":{"n%d-%d":"x"}}}`, writer, n)); err != nil {
			b.Error(err)
		}
		return true
	}
	r, err := b.Get(b.ctx(), "ns", "a", "0", v1)
	if err != nil {
		b.Error(err)
		return true
	}
	w := b.parse(r)
	w.Spec.Size++
	if _, err = b.update("a", w); err != nil && !apierrors.IsConflict(err) {
		b.Error(err)
		return true
	}
	return err == nil
}

// TestPagesDuringWrites lists page by page while others write: each list is one state.
func TestPagesDuringWrites(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(12)
		stop, done := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(done)
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				// Both change in this order, so that no state has more of the second than of the first.
				for _, name := range []string{"w001", "w009"} {
					if _, err := b.patch(name, "", fmt.Sprintf(`{"spec":{"size":%d}}`, n+2)); err != nil {
						t.Error(err)
						return
					}
				}
			}
		}()
		for range 20 {
			sizes := map[string]int64{}
			opts := verb.ListOptions{Limit: 5}
			for {
				page, err := b.List(b.ctx(), "ns", opts, v1)
				if err != nil {
					t.Fatal(err)
				}
				for r := range page.Items {
					w := b.parse(r)
					sizes[w.Name] = w.Spec.Size
				}
				page.Close()
				if opts.Continue = page.Continue; opts.Continue == "" {
					break
				}
			}
			if d := sizes["w001"] - sizes["w009"]; len(sizes) != 12 || d < 0 || d > 1 && sizes["w009"] > 1 {
				t.Errorf("a torn list: %v", sizes)
			}
		}
		close(stop)
		<-done
	})
}

func TestRenditionsAreJSON(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	b.create(`{"metadata":{"name":"a","annotations":{"x":"<>&\"\\\u2028"}},"spec":{"color":"<red>"}}`)
	forms := slices.Values([]string{"v1", "v1beta1"})
	for version := range forms {
		form := v1
		form.Version = version
		r, err := b.Get(b.ctx(), "ns", "a", "", form)
		if err != nil || !json.Valid([]byte(whole(r))) {
			t.Errorf("%v %s", err, whole(r))
		}
	}
}
