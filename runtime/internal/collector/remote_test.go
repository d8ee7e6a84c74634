package collector

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
)

// elsewhere is a resource of another server, as one collector sees it.
type elsewhere struct {
	handle verb.Handle
	away   *atomic.Bool
	// told is the revision up to which the collector was told of changes.
	told atomic.Int64
	// gets counts reads of single objects.
	gets atomic.Int64
}

var errAway = errors.New("the server is away")

func (e *elsewhere) err() error {
	if e.away.Load() {
		return errAway
	}
	return nil
}

func partial(r verb.Rendition) (*metav1.PartialObjectMetadata, error) {
	m, err := readMetadata(r)
	if err != nil {
		return nil, err
	}
	p := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Finalizers: m.Finalizers,
		OwnerReferences: m.OwnerReferences,
	}}
	if m.DeletionTimestamp != nil {
		p.DeletionTimestamp = &metav1.Time{Time: time.Now()}
	}
	return p, nil
}

// Get implements RemoteObjects.
func (e *elsewhere) Get(ctx context.Context, namespace, name string) (*metav1.PartialObjectMetadata, error) {
	e.gets.Add(1)
	if err := e.err(); err != nil {
		return nil, err
	}
	found, err := e.handle.Get(ctx, namespace, name, "", form)
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return partial(found)
}

// List implements RemoteObjects, with one object a page.
func (e *elsewhere) List(
	ctx context.Context, namespace string, look func(*metav1.PartialObjectMetadataList) error,
) error {
	if err := e.err(); err != nil {
		return err
	}
	listed, err := e.handle.List(ctx, namespace, verb.ListOptions{}, form)
	if err != nil {
		return err
	}
	defer listed.Close()
	page := &metav1.PartialObjectMetadataList{ListMeta: metav1.ListMeta{ResourceVersion: listed.ResourceVersion}}
	if err := look(page); err != nil {
		return err
	}
	for item := range listed.Items {
		p, err := partial(item)
		if err != nil {
			return err
		}
		page.Items = []metav1.PartialObjectMetadata{*p}
		if err := look(page); err != nil {
			return err
		}
	}
	return nil
}

// Watch implements RemoteObjects.
func (e *elsewhere) Watch(
	ctx context.Context, resourceVersion string, event func(watch.EventType, *metav1.PartialObjectMetadata) error,
) error {
	options := api.WatchOptions{AllowBookmarks: true}
	options.ResourceVersion = resourceVersion
	w, err := e.handle.Watch(ctx, "", options, form)
	if err != nil {
		return err
	}
	defer w.Close()
	pace := w.(verb.Paced)
	for {
		bound, cancel := context.WithTimeout(ctx, time.Millisecond)
		events, err := w.Next(bound)
		ended := bound.Err() != nil
		cancel()
		switch {
		case e.away.Load():
			e.told.Store(0)
			return errAway
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && !ended:
			return err
		}
		for i := range events {
			if events[i].Type == api.Bookmark {
				continue
			}
			p, err := partial(events[i].Object)
			if err != nil {
				return err
			}
			if err := event(watch.EventType(events[i].Type), p); err != nil {
				return err
			}
		}
		e.told.Store(pace.Revision())
		if err := pace.Hurry(ctx); err != nil {
			return err
		}
	}
}

// Delete implements RemoteObjects.
func (e *elsewhere) Delete(ctx context.Context, namespace, name string, options *metav1.DeleteOptions) error {
	if err := e.err(); err != nil {
		return err
	}
	_, err := e.handle.Delete(ctx, namespace, name, verb.DeleteOptions{
		WriteOptions: verb.WriteOptions{Form: form}, Preconditions: options.Preconditions,
		Propagation: options.PropagationPolicy,
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Patch implements RemoteObjects.
func (e *elsewhere) Patch(ctx context.Context, namespace, name string, patch []byte) error {
	if err := e.err(); err != nil {
		return err
	}
	body := verb.Body{Version: "v1", Data: patch}
	_, err := e.handle.Patch(ctx, namespace, name, "", verb.MergePatch, body, verb.WriteOptions{Form: form})
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// newCollector returns a collector of the world's resources.
func (w *world) newCollector() *Collector {
	var own []verb.Handle
	var remotes []Remote
	for _, h := range w.handles {
		info := h.Info()
		if !w.remote.Has(info.Names.Plural) {
			own = append(own, h)
			continue
		}
		e := &elsewhere{handle: h, away: &w.away}
		w.seen = append(w.seen, e)
		remotes = append(remotes, Remote{
			GroupVersionResource: info.GroupResource().WithVersion("v1"), Kind: info.Names.Kind,
			Namespaced: info.Scope == api.Namespaced, Followed: true, Objects: e,
		})
	}
	c := New(own, nil)
	c.SetRemotes(remotes, nil)
	return c
}

// told reports whether all collectors were told of all changes in the other server, or can't be.
func (w *world) told() bool {
	revision, _ := w.second.Revision(w.Context())
	return w.away.Load() || !slices.ContainsFunc(w.seen, func(e *elsewhere) bool { return e.told.Load() < revision })
}

// await waits until a condition holds.
func (w *world) await(what string, holds func() bool) {
	w.Helper()
	ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
	defer cancel()
	for !holds() {
		select {
		case <-ctx.Done():
			w.Fatalf("%s: %s", what, w.list())
		case <-time.After(time.Millisecond):
		}
	}
}

// TestAway: while a server is away, nothing is deleted because an owner can't be seen, and no dependent is forgotten
// that was to be orphaned. Deletions in the foreground go on, and their dependents go when the server is back.
func TestAway(t *testing.T) {
	w := newWorldIn(t, true, verb.JSON, "twigs")
	for line := range strings.Lines(`create trees/a
		create trees/b
		create twigs/ns/owner
		create leafs/ns/kept twigs/ns/owner
		create leafs/ns/lost !twigs/ns/gone
		create twigs/ns/a trees/a
		create twigs/ns/b trees/b`) {
		w.command(line)
	}
	w.away.Store(true)
	w.start(2)
	w.delete("trees/a", metav1.DeletePropagationOrphan)
	w.delete("trees/b", metav1.DeletePropagationForeground)
	w.await("trees/b waits", func() bool { return w.meta("trees/b") == nil })
	const attempts = 5
	w.await("nothing is tried", func() bool { return w.collectors[0].Stats().Failed > attempts })
	if got, want := w.list(), `leafs/ns/kept twigs/owner
leafs/ns/lost twigs/gone
trees/a deleted [orphan]
twigs/ns/a trees/a
twigs/ns/b trees/b
twigs/ns/owner`; got != want {
		t.Errorf("while the server is away: got\n%s\nwant\n%s", got, want)
	}
	w.away.Store(false)
	w.settle()
	if got, want := w.list(), `leafs/ns/kept twigs/owner
twigs/ns/a
twigs/ns/owner`; got != want {
		t.Errorf("when the server is back: got\n%s\nwant\n%s", got, want)
	}
}

// TestUnknown: an orphaning deletion waits for versions of which nobody knows what they have, and a deletion in the
// foreground doesn't. Owners of a kind that nobody serves any more count as present.
func TestUnknown(t *testing.T) {
	w := newWorldIn(t, true, verb.JSON, "twigs")
	for _, line := range []string{
		"create trees/a", "create trees/b", "create twigs/ns/owner", "create leafs/ns/a !twigs/ns/owner",
	} {
		w.command(line)
	}
	var remotes []Remote
	w.start(1)
	w.settle()
	c := w.collectors[0]
	for _, r := range c.all() {
		if r.remote != nil {
			remotes = append(remotes, *r.remote)
		}
	}
	if w.meta("leafs/ns/a") != nil {
		t.Error("an owner of another uid keeps its dependent")
	}
	c.SetRemotes(nil, []schema.GroupVersion{{Group: "metal.example.com", Version: "v1"}})
	w.create("leafs/ns/b", "!twigs/ns/owner")
	w.delete("trees/a", metav1.DeletePropagationOrphan)
	w.delete("trees/b", metav1.DeletePropagationForeground)
	w.await("trees/b waits", func() bool { return w.meta("trees/b") == nil })
	w.await("nothing is tried", func() bool { return c.Stats().Failed > 2 })
	if w.meta("trees/a") == nil || w.meta("leafs/ns/b") == nil {
		t.Errorf("without the other server: %s", w.list())
	}
	c.SetRemotes(remotes, nil)
	w.settle()
	if got := w.list(); got != "twigs/ns/owner" {
		t.Errorf("with the other server again: %s", got)
	}
}

// TestConfirmed: the collector asks another server once for the owner of many dependents, again after its every event,
// and not in vain for one that is gone.
func TestConfirmed(t *testing.T) {
	w := newWorldIn(t, true, verb.JSON, "trees")
	w.create("trees/oak")
	const dependents = 200
	for i := range dependents {
		w.create(fmt.Sprintf("leafs/ns/l%d", i), "trees/oak")
	}
	w.start(1)
	w.settle()
	if gets := w.seen[0].gets.Load(); gets > 2*workers {
		t.Errorf("%d requests for one owner", gets)
	}
	before := w.seen[0].gets.Load()
	w.patch("trees/oak", `{"metadata":{"labels":{"a":"b"}}}`)
	w.settle()
	w.create("leafs/ns/late", "trees/oak")
	w.settle()
	if w.seen[0].gets.Load() == before {
		t.Error("an owner that changed wasn't asked for again")
	}
	w.delete("trees/oak", metav1.DeletePropagationBackground)
	w.settle()
	if got := w.list(); got != "" {
		t.Errorf("left: %s", got)
	}
}

// TestConfirmedLate: an answer that is older than an event of the owner confirms nothing.
func TestConfirmedLate(t *testing.T) {
	var c confirmed
	at := ownerKey{namespace: "ns", name: "a", uid: "u"}
	c.confirm(c.ask(at))
	if c.has(at) {
		t.Error("an owner is known without a watch")
	}
	c.start()
	early := c.ask(at)
	c.forget(at.uid)
	late := c.ask(at)
	if c.confirm(early); c.has(at) {
		t.Error("an answer from before the event counts")
	}
	if c.confirm(late); !c.has(at) {
		t.Error("an answer from after the event doesn't count")
	}
	if other := (ownerKey{namespace: "ns", name: "b", uid: "u"}); c.has(other) {
		t.Error("another name is known")
	}
	if c.stop(); c.has(at) {
		t.Error("the watch ended")
	}
}
