package registry_test

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/registry"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestFinalizers(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		w := b.create(`{"metadata":{"name":"a","finalizers":["x.example.com/a","x.example.com/b"]}}`)
		d, err := b.delete("a", registry.DeleteOptions{})
		if err != nil || d.Done || d.UID != string(w.UID) {
			t.Fatalf("%+v %v", d, err)
		}
		marked := b.get("a")
		if marked.DeletionTimestamp == nil || *marked.DeletionGracePeriodSeconds != 0 || marked.Generation != 2 {
			t.Errorf("marked: %+v", marked.ObjectMeta)
		}
		if d, err = b.delete("a", registry.DeleteOptions{}); err != nil || d.Done || b.parse(d.Object).ResourceVersion != marked.ResourceVersion {
			t.Errorf("a second deletion: %+v %v", d, err)
		}
		_, err = b.Create(b.ctx(), "ns", body(`{"metadata":{"name":"a"}}`), registry.WriteOptions{Form: v1})
		wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists, `object is being deleted: widgets.shop.example.com "a" already exists`)
		_, err = b.patch("a", "", `{"metadata":{"finalizers":["x.example.com/a","x.example.com/c"]}}`)
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted")
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
		_, err := b.delete("a", registry.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, `Operation cannot be fulfilled on Widget.shop.example.com "a": the UID in the precondition (wrong) does not match the UID in record (`+string(w.UID))
		_, err = b.delete("a", registry.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &old}})
		wantStatus(t, err, 409, metav1.StatusReasonConflict, "the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ("+w.ResourceVersion)
		bogus := metav1.DeletionPropagation("Bogus")
		_, err = b.delete("a", registry.DeleteOptions{Propagation: &bogus})
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, "propagationPolicy: Unsupported value")
		foreground := metav1.DeletePropagationForeground
		d, err := b.delete("a", registry.DeleteOptions{Propagation: &foreground, Preconditions: &metav1.Preconditions{UID: &w.UID, ResourceVersion: &w.ResourceVersion}})
		if err != nil || !d.Done {
			t.Fatalf("%+v %v", d, err)
		}
		revision, _ := b.backend.Revision(b.ctx())
		if got := b.parse(d.Object).ResourceVersion; got != fmt.Sprint(revision) {
			t.Errorf("the answer is at %s, the deletion at %d", got, revision)
		}
		_, err = b.delete("a", registry.DeleteOptions{})
		wantStatus(t, err, 404, metav1.StatusReasonNotFound, `widgets.shop.example.com "a" not found`)
	})
}

func TestDeleteCollection(t *testing.T) {
	both(t, func(t *testing.T, b *bench) {
		b.fill(20)
		b.create(`{"metadata":{"name":"w100","finalizers":["x.example.com/y"],"labels":{"third":"true"}}}`)
		remove := func(opts registry.ListOptions, dry bool) (got int) {
			page, err := b.DeleteCollection(b.ctx(), "ns", registry.DeleteOptions{WriteOptions: registry.WriteOptions{Form: v1, DryRun: dry}}, opts)
			if err != nil {
				t.Fatal(err)
			}
			for r := range page.Items {
				b.parse(r)
				got++
			}
			if got != page.Len || page.Continue != "" {
				t.Errorf("%d items, %+v", got, page)
			}
			page.Close()
			return got
		}
		third := registry.ListOptions{Selection: selection(t, "third=true", "")}
		if n := remove(third, true); n != 8 {
			t.Errorf("a dry run deleted %d", n)
		}
		if n := remove(registry.ListOptions{Limit: 2}, false); n != 2 {
			t.Errorf("with a limit it deleted %d", n)
		}
		if n := remove(third, false); n != 7 {
			t.Errorf("it deleted %d", n)
		}
		names, _ := b.names("ns", registry.ListOptions{})
		if want := "w002 w004 w005 w007 w008 w010 w011 w013 w014 w016 w017 w019 w100"; names != want {
			t.Errorf("left %s\nwant %s", names, want)
		}
	})
}
