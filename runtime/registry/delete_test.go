package registry_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestFinalizers(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a","finalizers":["x.example.com/a","x.example.com/b"]}}`)
		d, err := b.delete("a", verb.DeleteOptions{})
		if err != nil || d.Done || d.UID != string(w.UID) {
			t.Fatalf("%+v %v", d, err)
		}
		marked := b.get("a")
		if marked.DeletionTimestamp == nil || *marked.DeletionGracePeriodSeconds != 0 || marked.Generation != 2 {
			t.Errorf("marked: %+v", marked.ObjectMeta)
		}
		if d, err = b.delete("a", verb.DeleteOptions{}); err != nil || d.Done ||
			b.parse(d.Object).ResourceVersion != marked.ResourceVersion {
			t.Errorf("a second deletion: %+v %v", d, err)
		}
		_, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a"}}`), verb.WriteOptions{Form: v1})
		wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists, `object is being deleted: `+
			`widgets.shop.example.com "a" already exists`)
		_, err = b.patch("a", "", `{"metadata":{"finalizers":["x.example.com/a","x.example.com/c"]}}`)
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "metadata.finalizers: Forbidden: no new finalizers can "+
			"be added if the object is being deleted")
		got, err := b.patch("a", "", `{"metadata":{"finalizers":["x.example.com/b"],"deletionTimestamp":null}}`)
		if err != nil || got.DeletionTimestamp == nil {
			t.Fatalf("%+v %v", got, err)
		}
		if got, err = b.patch("a", "", `{"metadata":{"finalizers":null}}`); err != nil || got.Name != "a" {
			t.Fatalf("%+v %v", got, err)
		}
		_, err = b.Get(b.ctx(), "ns", "a", "", v1)
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
	})
}

func TestDeletePreconditions(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a"}}`)
		old, wrong := "1", types.UID("wrong")
		_, err := b.delete("a", verb.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on `+
			`Widget.shop.example.com "a": the UID in the precondition (wrong) does not match the UID in record (`+
			string(w.UID))
		_, err = b.delete("a", verb.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the ResourceVersion in the precondition (1) does not "+
			"match the ResourceVersion in record ("+w.ResourceVersion)
		bogus := metav1.DeletionPropagation("Bogus")
		_, err = b.delete("a", verb.DeleteOptions{Propagation: &bogus})
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "propagationPolicy: Unsupported value")
		background := metav1.DeletePropagationBackground
		d, err := b.delete("a", verb.DeleteOptions{Propagation: &background,
			Preconditions: &metav1.Preconditions{UID: &w.UID, ResourceVersion: &w.ResourceVersion}})
		if err != nil || !d.Done {
			t.Fatalf("%+v %v", d, err)
		}
		_, err = b.delete("a", verb.DeleteOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
	})
}

// TestDeletionOfWhatAVersionCantShow: an object that a version has no words for is deleted through it all the same,
// since
// the answer doesn't show it; a collection, which is shown, is left alone as a whole.
func TestDeletionOfWhatAVersionCantShow(t *testing.T) {
	d := shop.Definition()
	d.Versions[1] = codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, codec.Conversion[*shop.Widget,
		*shop.WidgetV1beta1]{
		New:     func() *shop.WidgetV1beta1 { return &shop.WidgetV1beta1{} },
		ToHub:   func(*shop.WidgetV1beta1, *shop.Widget) error { return nil },
		FromHub: func(*shop.Widget, *shop.WidgetV1beta1) error { return errors.New("no word for it") },
	})
	b := openOver(t, memory.New(), registry.New(d), registry.Config{})
	b.create(`{"metadata":{"name":"a"}}`)
	b.create(`{"metadata":{"name":"b"}}`)
	opts := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1beta1}}
	if got, err := b.Delete(b.ctx(), "ns", "a", opts); err != nil || !got.Done {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := b.DeleteCollection(b.ctx(), "ns", opts, verb.ListOptions{}); err == nil ||
		!strings.Contains(err.Error(), "no word for it") {
		t.Errorf("%v", err)
	}
	if names, _ := b.names("ns", verb.ListOptions{}); names != "b" {
		t.Errorf("left: %s", names)
	}
}

// A write whose answer a version has no words for is refused, not done: its client would be told of a failure.
func TestWritesThatAVersionCantShow(t *testing.T) {
	d := shop.Definition()
	d.Versions[1] = codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, codec.Conversion[*shop.Widget,
		*shop.WidgetV1beta1]{
		New: func() *shop.WidgetV1beta1 { return &shop.WidgetV1beta1{} },
		ToHub: func(v *shop.WidgetV1beta1, w *shop.Widget) error {
			w.ObjectMeta = v.ObjectMeta
			return nil
		},
		FromHub: func(*shop.Widget, *shop.WidgetV1beta1) error { return errors.New("no word for it") },
	})
	b := openOver(t, memory.New(), registry.New(d), registry.Config{})
	opts := verb.WriteOptions{Form: v1beta1}
	refused := func(what string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), "no word for it") {
			t.Errorf("%s: %v", what, err)
		}
	}
	revision := func() int64 {
		n, err := b.backend.Revision(b.ctx())
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := revision()
	_, err := b.Create(b.ctx(), "ns", verb.Body{Version: "v1beta1",
		Data: []byte(`{"apiVersion":"shop.example.com/v1beta1","kind":"Widget","metadata":{"name":"a"}}`)}, opts)
	refused("create", err)
	if revision() != before {
		t.Error("it was created")
	}
	b.create(`{"metadata":{"name":"a"}}`)
	before = revision()
	_, err = b.Update(b.ctx(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"size":3}}`), opts)
	refused("update", err)
	_, err = b.Patch(b.ctx(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":4}}`), opts)
	refused("patch", err)
	if revision() != before {
		t.Error("it was written")
	}
	b.create(`{"metadata":{"name":"held","finalizers":["example.com/wait"]}}`)
	before = revision()
	_, err = b.Delete(b.ctx(), "ns", "held", verb.DeleteOptions{WriteOptions: opts})
	refused("mark", err)
	if revision() != before {
		t.Error("it was marked")
	}
}

func TestDeleteCollection(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(20)
		b.create(`{"metadata":{"name":"w100","finalizers":["x.example.com/y"],"labels":{"third":"true"}}}`)
		remove := func(opts verb.ListOptions, dry bool) (got int) {
			page, err := b.DeleteCollection(b.ctx(), "ns", verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1,
				DryRun: dry}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			for r := range page.Items {
				b.parse(r)
				got++
			}
			if more := page.Continue != ""; got != page.Len || more != (opts.Limit > 0) ||
				more != (page.Remaining != nil) {
				t.Errorf("%d items, %+v", got, page)
			}
			page.Close()
			return got
		}
		third := verb.ListOptions{Selection: selection(t, "third=true", "")}
		if n := remove(third, true); n != 8 {
			t.Errorf("a dry run deleted %d", n)
		}
		if n := remove(verb.ListOptions{Limit: 2}, false); n != 2 {
			t.Errorf("with a limit it deleted %d", n)
		}
		if n := remove(third, false); n != 7 {
			t.Errorf("it deleted %d", n)
		}
		names, _ := b.names("ns", verb.ListOptions{})
		if want := "w002 w004 w005 w007 w008 w010 w011 w013 w014 w016 w017 w019 w100"; names != want {
			t.Errorf("left %s\nwant %s", names, want)
		}
	})
}

// TestDeleteCollectionAtAVersion: a collection is deleted as it was at the resourceVersion that the client names.
func TestDeleteCollectionAtAVersion(t *testing.T) {
	for _, limit := range []int64{0, 100} {
		both(t, func(t *testing.T, b *bench) {
			b.create(`{"metadata":{"name":"a","labels":{"x":"y"}}}`)
			seen := b.create(`{"metadata":{"name":"b","labels":{"x":"y"}}}`).ResourceVersion
			b.create(`{"metadata":{"name":"new","labels":{"x":"y"}}}`)
			list := verb.ListOptions{Selection: selection(t, "x=y", ""), ResourceVersion: seen, Limit: limit}
			opts := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}}
			page, err := b.DeleteCollection(b.ctx(), "ns", opts, list)
			if err != nil {
				t.Fatal(err)
			}
			page.Close()
			if names, _ := b.names("ns", verb.ListOptions{}); names != "new" || page.Len != 2 {
				t.Errorf("%d deleted, left %q", page.Len, names)
			}
		})
	}
}

// TestDeleteCollectionAtACompactedVersion: a resourceVersion that is compacted is 410, and deletes nothing.
func TestDeleteCollectionAtACompactedVersion(t *testing.T) {
	b := open(t, registry.New(shop.Definition()), false)
	old := b.create(`{"metadata":{"name":"a"}}`).ResourceVersion
	b.create(`{"metadata":{"name":"b"}}`)
	revision, err := b.backend.Revision(b.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if err := b.backend.Compact(b.ctx(), revision); err != nil {
		t.Fatal(err)
	}
	_, err = b.DeleteCollection(b.ctx(), "ns", verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}},
		verb.ListOptions{ResourceVersion: old})
	wantStatus(t, err, 410, metav1.StatusReasonExpired, "")
	if names, _ := b.names("ns", verb.ListOptions{}); names != "a b" {
		t.Errorf("left %q", names)
	}
}

// TestDeleteCollectionEndsWithTheFirstError: no object is deleted that is listed behind one which fails a precondition.
func TestDeleteCollectionEndsWithTheFirstError(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(3)
		last := b.create(`{"metadata":{"name":"z"}}`).UID
		opts := verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}}
		opts.Preconditions = &metav1.Preconditions{UID: &last}
		_, err := b.DeleteCollection(b.ctx(), "ns", opts, verb.ListOptions{})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the UID in the precondition")
		if names, _ := b.names("ns", verb.ListOptions{}); names != "w000 w001 w002 z" {
			t.Errorf("left %q", names)
		}
	})
}

// TestDeletedAsListed: what a collection's deletion answers shows the objects as they were listed.
func TestDeletedAsListed(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		plain := b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
		held := b.create(`{"metadata":{"name":"b","finalizers":["x.example.com/y"]}}`)
		for _, form := range []verb.Form{v1, v1beta1} {
			page, err := b.DeleteCollection(b.ctx(), "ns",
				verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: form, DryRun: form == v1beta1}},
				verb.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for r := range page.Items {
				w := b.parse(r)
				got = append(got, w.Name+"@"+w.ResourceVersion)
				if w.DeletionTimestamp != nil && form == v1 || !strings.Contains(r.Head, form.Version) {
					t.Errorf("%s shows %s", form.Version, whole(r))
				}
			}
			page.Close()
			want := []string{"a@" + plain.ResourceVersion, "b@" + held.ResourceVersion}
			if form == v1beta1 {
				want = []string{"b@" + b.get("b").ResourceVersion}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s: got %v, want %v", form.Version, got, want)
			}
		}
	})
}

func TestPropagationIsRecorded(t *testing.T) {
	const foreground, orphan, background = metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan,
		metav1.DeletePropagationBackground
	for _, c := range []struct {
		name, finalizers string
		asked, usual     metav1.DeletionPropagation // "none" is what knows no propagation
		ignored          bool
		want             string // the finalizers after; "" is an object that is gone
	}{
		{name: "nothing asked"},
		{name: "background", asked: background},
		{name: "foreground", asked: foreground, want: "foregroundDeletion"},
		{name: "orphan", asked: orphan, want: "orphan"},
		{name: "beside others", finalizers: `"x.example.com/y"`, asked: foreground,
			want: "x.example.com/y foregroundDeletion"},
		{name: "the finalizer says", finalizers: `"orphan"`, want: "orphan"},
		{name: "foreground by finalizer", finalizers: `"foregroundDeletion","x.example.com/y"`,
			want: "foregroundDeletion x.example.com/y"},
		{name: "asked for overrides the finalizer", finalizers: `"orphan"`, asked: foreground,
			want: "foregroundDeletion"},
		{name: "background takes it away", finalizers: `"orphan"`, asked: background},
		{name: "the kind orphans", usual: orphan, want: "orphan"},
		{name: "asked for overrides the kind", usual: orphan, asked: background},
		{name: "the finalizer overrides the kind", usual: orphan, finalizers: `"foregroundDeletion"`,
			want: "foregroundDeletion"},
		{name: "a kind without", usual: "none", asked: foreground},
		{name: "a kind without drops the finalizer", usual: "none", finalizers: `"x.example.com/y","orphan"`,
			asked: orphan, want: "x.example.com/y"},
		{name: "nobody collects", ignored: true, asked: foreground},
		{name: "nobody collects, the finalizer stays", ignored: true, finalizers: `"orphan"`, asked: background,
			want: "orphan"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := shop.Definition()
			if c.usual != "" {
				d.Strategy.DefaultPropagationPolicy = func(context.Context, *shop.Widget) metav1.DeletionPropagation {
					return metav1.DeletionPropagation(strings.TrimPrefix(string(c.usual), "none"))
				}
			}
			b := openOver(t, memory.New(), registry.New(d), registry.Config{IgnorePropagation: c.ignored})
			b.create(`{"metadata":{"name":"a","finalizers":[` + c.finalizers + `]}}`)
			opts := verb.DeleteOptions{}
			if c.asked != "" {
				opts.Propagation = &c.asked
			}
			done, err := b.delete("a", opts)
			if err != nil || done.Done != (c.want == "") {
				t.Fatalf("done %v, %v", done.Done, err)
			}
			if c.want == "" {
				_, err := b.Get(b.ctx(), "ns", "a", "", v1)
				wantStatus(t, err, 404, metav1.StatusReasonNotFound, "not found")
				return
			}
			w := b.get("a")
			if got := strings.Join(w.Finalizers, " "); got != c.want || w.DeletionTimestamp == nil ||
				w.Generation != 2 {
				t.Errorf("got %q, %+v", got, w.ObjectMeta)
			}
		})
	}
}

// TestPropagationChangesWhileDeleted: another deletion may choose another policy as long as the object is there.
func TestPropagationChangesWhileDeleted(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.create(`{"metadata":{"name":"a"}}`)
		for _, c := range []struct {
			policy metav1.DeletionPropagation
			want   string
		}{{metav1.DeletePropagationForeground, "foregroundDeletion"}, {metav1.DeletePropagationOrphan, "orphan"}} {
			if d, err := b.delete("a", verb.DeleteOptions{Propagation: &c.policy}); err != nil || d.Done ||
				strings.Join(b.get("a").Finalizers, " ") != c.want {
				t.Fatalf("%s: %+v %v", c.policy, b.get("a").ObjectMeta, err)
			}
		}
		background := metav1.DeletePropagationBackground
		if d, err := b.delete("a", verb.DeleteOptions{Propagation: &background}); err != nil || !d.Done {
			t.Fatalf("%+v %v", d, err)
		}
	})
}
