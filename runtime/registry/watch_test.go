package registry_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// watcher collects what a watch tells, as "ADDED a" and so on.
type watcher struct {
	*bench
	w    verb.Watch
	ctx  context.Context
	seen []string
	last verb.Rendition
}

func (b *bench) watch(opts api.WatchOptions) *watcher {
	b.Helper()
	return b.watchFor(b.TB.Context(), opts)
}

func (b *bench) watchFor(ctx context.Context, opts api.WatchOptions) *watcher {
	b.Helper()
	w, err := b.Watch(ctx, "ns", opts, v1)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	return &watcher{bench: b, w: w, ctx: ctx}
}

// next waits for n more events and returns them.
func (w *watcher) next(n int) string {
	w.Helper()
	for len(w.seen) < n {
		ctx, cancel := context.WithTimeout(w.ctx, 2*time.Minute)
		events, err := w.w.Next(ctx)
		cancel()
		if err != nil {
			w.Fatalf("%v after %v", err, w.seen)
		}
		for _, e := range events {
			name := strings.TrimSpace(string(e.Type) + " " + w.parse(e.Object).Name)
			w.seen, w.last = append(w.seen, name), e.Object
		}
	}
	got := strings.Join(w.seen[:n], ", ")
	w.seen = w.seen[n:]
	return got
}

func (w *watcher) expect(want string) {
	w.Helper()
	if got := w.next(strings.Count(want, ",") + 1); got != want {
		w.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestWatchFromARevision(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		first := b.create(`{"metadata":{"name":"a"}}`)
		b.create(`{"metadata":{"name":"b"}}`)
		w := b.watch(api.WatchOptions{ResourceVersion: first.ResourceVersion})
		w.expect("ADDED b")
		if _, err := b.patch("a", "", `{"spec":{"size":4}}`); err != nil {
			t.Fatal(err)
		}
		w.expect("MODIFIED a")
		if _, err := b.delete("a", verb.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		w.expect("DELETED a")
		revision, _ := b.backend.Revision(b.ctx())
		if last := b.parse(w.last); last.Spec.Size != 4 || last.ResourceVersion != strconv.FormatInt(revision, 10) {
			t.Errorf("the event of revision %d shows %s", revision, whole(w.last))
		}
	})
}

func TestWatchBeginsWithTheState(t *testing.T) {
	yes, no := true, false
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		now := b.create(`{"metadata":{"name":"b"}}`).ResourceVersion
		withState := map[string]*watcher{
			"unset":           b.watch(api.WatchOptions{}),
			"sendInitial":     b.watch(api.WatchOptions{SendInitialEvents: &yes}),
			"sendInitial now": b.watch(api.WatchOptions{SendInitialEvents: &yes, ResourceVersion: now}),
		}
		without := map[string]*watcher{
			"no initial":     b.watch(api.WatchOptions{SendInitialEvents: &no}),
			"no initial now": b.watch(api.WatchOptions{SendInitialEvents: &no, ResourceVersion: now}),
		}
		b.create(`{"metadata":{"name":"c"}}`)
		for name, w := range withState {
			if got := w.next(3); got != "ADDED a, ADDED b, ADDED c" {
				t.Errorf("%s: %s", name, got)
			}
		}
		for name, w := range without {
			if got := w.next(1); got != "ADDED c" {
				t.Errorf("%s: %s", name, got)
			}
		}
	})
}

func TestWatchListEndsWithABookmark(t *testing.T) {
	yes := true
	both(t, func(t *testing.T, b *bench) {
		for i := range 600 {
			b.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"}}`, i))
		}
		w := b.watch(api.WatchOptions{SendInitialEvents: &yes, AllowBookmarks: true})
		got := w.next(601)
		if !strings.HasPrefix(got, "ADDED w000, ADDED w001") || !strings.HasSuffix(got, "ADDED w599, BOOKMARK") {
			t.Errorf("%s", got)
		}
		revision, _ := b.backend.Revision(b.ctx())
		want := `{"kind":"Widget","apiVersion":"shop.example.com/v1","metadata":{"resourceVersion":"` +
			strconv.FormatInt(revision, 10) +
			`","annotations":{"k8s.io/initial-events-end":"true"}}}`
		if whole(w.last) != want {
			t.Errorf("got  %s\nwant %s", whole(w.last), want)
		}
	})
}

// TestWatchHasABacklogUntilTheStateIsTold: if there is more, nobody waits for it; where the last piece is full,
// there is
// no more.
func TestWatchHasABacklogUntilTheStateIsTold(t *testing.T) {
	for _, n := range []int{0, 1, 512, 600} {
		b := open(t, registry.New(shop.Definition()), true)
		for i := range n {
			b.create(fmt.Sprintf(`{"metadata":{"name":"w%03d"}}`, i))
		}
		w := b.watch(api.WatchOptions{}).w
		backlog := w.(verb.Backlog)
		over, cancel := context.WithCancel(b.ctx())
		cancel()
		if backlog.More() {
			t.Errorf("of %d objects none was told, and there is more", n)
		}
		for told := 0; told < n; {
			events, err := w.Next(over)
			if err != nil || len(events) == 0 {
				t.Fatalf("of %d objects %d were told, then %d events and %v", n, told, len(events), err)
			}
			if told += len(events); backlog.More() != (told < n) {
				t.Errorf("of %d objects %d were told, more: %v", n, told, backlog.More())
			}
		}
	}
}

func TestWatchSelects(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		b.create(`{"metadata":{"name":"b"},"spec":{"color":"blue"}}`)
		w := b.watch(api.WatchOptions{Selection: selection(t, "", "spec.color=red")})
		named := b.watch(api.WatchOptions{Selection: selection(t, "", "metadata.name=b")})
		w.expect("ADDED a")
		named.expect("ADDED b")
		for _, change := range []string{`a {"spec":{"color":"blue"}}`, `b {"spec":{"color":"red"}}`,
			`a {"spec":{"size":3}}`, `b {"spec":{"size":3}}`} {
			name, patch, _ := strings.Cut(change, " ")
			if _, err := b.patch(name, "", patch); err != nil {
				t.Fatal(err)
			}
		}
		w.expect("DELETED a, ADDED b, MODIFIED b")
		named.expect("MODIFIED b, MODIFIED b")
	})
}

func TestWatchDeletedCarriesTheLastMatchingState(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		w := b.watch(api.WatchOptions{Selection: selection(t, "", "spec.color=red")})
		w.expect("ADDED a")
		left, err := b.patch("a", "", `{"spec":{"color":"blue"}}`)
		if err != nil {
			t.Fatal(err)
		}
		w.expect("DELETED a")
		if got := b.parse(w.last); got.Spec.Color != "red" || got.ResourceVersion != left.ResourceVersion {
			t.Errorf("%+v", got)
		}
	})
}

func TestWatchInOtherForms(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		w, err := b.Watch(b.ctx(), "ns", api.WatchOptions{}, verb.Form{Version: "v1beta1", Shape: verb.RowWithObject})
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		events, err := w.Next(b.ctx())
		if err != nil || len(events) != 1 || !strings.Contains(whole(events[0].Object),
			`"spec":{"colour":"red","size":1}`) {
			t.Fatal(events, err)
		}
	})
}

func TestWatchRefuses(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		_, err := b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: "abc"}, v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "invalid resource version")
		_, err = b.Watch(b.ctx(), "ns", api.WatchOptions{Selection: selection(t, "", "spec.size=1")}, v1)
		wantStatus(t, err, 400, metav1.StatusReasonBadRequest, "is not a known field selector")
	})
}

func TestWatchOfPoisonEnds(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.watch(api.WatchOptions{})
		b.create(`{"metadata":{"name":"a"}}`)
		w.expect("ADDED a")
		if _, err := b.backend.Put(b.ctx(), "/registry/shop.example.com/widgets/ns/b", []byte("junk"), 0,
			0); err != nil {
			t.Fatal(err)
		}
		_, err := w.w.Next(b.ctx())
		wantStatus(t, err, 500, metav1.StatusReasonInternalError, "/registry/shop.example.com/widgets/ns/b")
	})
}

func TestWatchEndsWithItsContextAndTheHandle(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		ctx, cancel := context.WithCancel(b.ctx())
		w := b.watchFor(ctx, api.WatchOptions{})
		cancel()
		if _, err := w.w.Next(b.ctx()); !errors.Is(err, context.Canceled) {
			t.Errorf("after its context ended: %v", err)
		}
		w = b.watch(api.WatchOptions{})
		if err := b.Handle.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.w.Next(b.ctx()); err == nil {
			t.Error("a watch outlived its handle")
		}
	})
}

func TestBookmarkBeforeTheDeadline(t *testing.T) {
	for _, cached := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			b := open(t, registry.New(shop.Definition()), cached)
			a := b.create(`{"metadata":{"name":"a"}}`)
			ctx, cancel := context.WithTimeout(b.ctx(), 10*time.Second)
			defer cancel()
			w := b.watchFor(ctx, api.WatchOptions{AllowBookmarks: true})
			// A watch that begins with the state tells where it ends.
			w.expect("ADDED a, BOOKMARK, BOOKMARK")
			if got := whole(w.last); strings.Contains(got, "initial-events-end") ||
				!strings.Contains(got, `"resourceVersion":"`+a.ResourceVersion+`"`) {
				t.Errorf("%s", got)
			}
			deadline, _ := ctx.Deadline()
			if left := time.Until(deadline); left > 3*time.Second || left < time.Second {
				t.Errorf("cached %t: the bookmark came %s before the deadline", cached, left)
			}
		})
	}
}

func TestWatchFallsBackToTheBackend(t *testing.T) {
	// A new cache knows nothing of what happened before it was filled; the backend does.
	b := open(t, registry.New(shop.Definition()), true)
	first := b.create(`{"metadata":{"name":"a"}}`)
	b.create(`{"metadata":{"name":"b"}}`)
	h, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: b.backend,
		Prefix: "/registry"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	other := &bench{TB: t, backend: b.backend, Handle: h}
	other.wait()
	w := other.watch(api.WatchOptions{ResourceVersion: first.ResourceVersion})
	w.expect("ADDED b")
	b.create(`{"metadata":{"name":"c"}}`)
	w.expect("ADDED c")
	w.w.Close()
}

func TestWatchBookmarksAreRowsToo(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	for shape, want := range map[verb.Shape]string{
		verb.Metadata: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` +
			`"metadata":{"resourceVersion":"1",`,
		verb.Row: `{"cells":["","",""],"object":null}`,
		verb.RowWithMetadata: `{"cells":["","",""],"object":{"kind":"PartialObjectMetadata",` +
			`"apiVersion":"meta.k8s.io/v1","metadata":{"resourceVersion":"1",`,
	} {
		w, err := b.Watch(b.ctx(), "ns", api.WatchOptions{AllowBookmarks: true}, verb.Form{Version: "v1", Shape: shape})
		if err != nil {
			t.Fatal(err)
		}
		events, err := w.Next(b.ctx())
		if err != nil || len(events) != 1 || events[0].Type != api.Bookmark ||
			!strings.HasPrefix(whole(events[0].Object), want) {
			t.Errorf("%v: %v %s", shape, err, whole(events[0].Object))
		}
		w.Close()
	}
}

func TestWatchFromBeforeACompactionExpires(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), true)
	first := b.create(`{"metadata":{"name":"a"}}`)
	b.create(`{"metadata":{"name":"b"}}`)
	now, _ := b.backend.Revision(b.ctx())
	if err := b.backend.Compact(b.ctx(), now); err != nil {
		t.Fatal(err)
	}
	h, err := registry.New(shop.Definition()).Open(t.Context(), registry.Config{Backend: b.backend,
		Prefix: "/registry"})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	waitFor(t, h.Ready)
	old, _ := strconv.Atoi(first.ResourceVersion)
	w, err := h.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: strconv.Itoa(old - 1)}, v1)
	if err == nil {
		defer w.Close()
		_, err = w.Next(b.ctx())
	}
	wantStatus(t, err, 410, metav1.StatusReasonExpired, "too old resource version: "+strconv.Itoa(old-1))
	// The cache that saw it happen still tells it.
	w, err = b.Watch(b.ctx(), "ns", api.WatchOptions{ResourceVersion: first.ResourceVersion}, v1)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if events, err := w.Next(b.ctx()); err != nil || len(events) != 1 {
		t.Error(events, err)
	}
}
