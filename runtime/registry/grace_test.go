package registry_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// graceful are widgets that take half a minute to wind up, but for white ones.
func graceful(t *testing.T) *bench {
	d := shop.Definition()
	d.Strategy.CheckGracefulDelete = func(_ context.Context, w *shop.Widget, options *metav1.DeleteOptions) bool {
		if w.Color == "white" {
			return false
		}
		if options.GracePeriodSeconds == nil && w.Color != "broken" {
			seconds := int64(30)
			options.GracePeriodSeconds = &seconds
		}
		return true
	}
	return openOver(t, memory.New(), registry.New(d), registry.Config{})
}

func seconds(n int64) *int64 { return &n }

func TestGrace(t *testing.T) {
	type deletion struct {
		grace   *int64
		gone    bool
		pending bool
		left    int64 // deletionGracePeriodSeconds after
	}
	for _, c := range []struct {
		name, object string
		deletions    []deletion
	}{
		{"the strategy's", `{}`, []deletion{{nil, false, false, 30}}},
		{"the client's", `{}`, []deletion{{seconds(7), false, false, 7}}},
		{"at once", `{}`, []deletion{{seconds(0), true, false, 0}}},
		{"negative is one", `{}`, []deletion{{seconds(-5), false, false, 1}}},
		{"again", `{}`, []deletion{{nil, false, false, 30}, {nil, false, true, 30}}},
		{"not longer", `{}`, []deletion{{seconds(7), false, false, 7}, {seconds(60), false, true, 7},
			{seconds(7), false, true, 7}}},
		{"shorter", `{}`, []deletion{{nil, false, false, 30}, {seconds(5), false, false, 5}, {seconds(0), true, false,
			0}}},
		{"none is due", `{"color":"white"}`, []deletion{{seconds(60), true, false, 0}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := graceful(t)
				b.create(`{"metadata":{"name":"a"},"spec":` + c.object + `}`)
				begin := time.Now().Truncate(time.Second) // as timestamps are
				for i, d := range c.deletions {
					got, err := b.delete("a", verb.DeleteOptions{GracePeriodSeconds: d.grace})
					if err != nil || got.Done != d.gone || got.Pending != d.pending {
						t.Fatalf("deletion %d: %+v %v", i, got, err)
					}
					if d.gone {
						_, err := b.Get(b.ctx(), "ns", "a", "", v1)
						wantStatus(t, err, 404, metav1.StatusReasonNotFound, "not found")
						continue
					}
					w := b.get("a")
					left := w.DeletionTimestamp.Sub(begin)
					if *w.DeletionGracePeriodSeconds != d.left || left != time.Duration(d.left)*time.Second ||
						w.Generation != 2 {
						t.Errorf("deletion %d: for %s, %d s, generation %d", i, left,
							*w.DeletionGracePeriodSeconds, w.Generation)
					}
				}
			})
		})
	}
}

// TestGraceWithFinalizers: an object whose grace is over still waits for its finalizers, and the other way round.
func TestGraceWithFinalizers(t *testing.T) {
	b := graceful(t)
	b.create(`{"metadata":{"name":"a","finalizers":["x.example.com/y"]}}`)
	if d, err := b.delete("a", verb.DeleteOptions{}); err != nil || d.Done ||
		*b.get("a").DeletionGracePeriodSeconds != 30 {
		t.Fatalf("%+v %v", d, err)
	}
	if w, err := b.patch("a", "", `{"metadata":{"finalizers":null}}`); err != nil || w.DeletionTimestamp == nil {
		t.Fatalf("%+v %v", w, err)
	}
	if *b.get("a").DeletionGracePeriodSeconds != 30 {
		t.Error("its grace is not over")
	}
	if d, err := b.delete("a", verb.DeleteOptions{GracePeriodSeconds: seconds(0)}); err != nil || !d.Done {
		t.Fatalf("%+v %v", d, err)
	}
	b.create(`{"metadata":{"name":"b","finalizers":["x.example.com/y"]}}`)
	for range 2 {
		if d, err := b.delete("b", verb.DeleteOptions{GracePeriodSeconds: seconds(0)}); err != nil || d.Done ||
			*b.get("b").DeletionGracePeriodSeconds != 0 {
			t.Fatalf("%+v %v", d, err)
		}
	}
	if _, err := b.patch("b", "", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	_, err := b.Get(b.ctx(), "ns", "b", "", v1)
	wantStatus(t, err, 404, metav1.StatusReasonNotFound, "not found")
}

// TestGraceNeedsAnAnswer: a strategy that grants grace and doesn't say how much is broken, and says so.
func TestGraceNeedsAnAnswer(t *testing.T) {
	b := graceful(t)
	b.create(`{"metadata":{"name":"a"},"spec":{"color":"broken"}}`)
	_, err := b.delete("a", verb.DeleteOptions{})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "options.GracePeriodSeconds should not be nil")
	if d, err := b.delete("a", verb.DeleteOptions{GracePeriodSeconds: seconds(3)}); err != nil || d.Done {
		t.Error(d, err)
	}
}

// TestGraceOfACollection: each object has its own grace, and a strategy that sets the options does so for one of them.
func TestGraceOfACollection(t *testing.T) {
	b := graceful(t)
	for i := range 10 {
		b.create(fmt.Sprintf(`{"metadata":{"name":"w%d"},"spec":{"color":%q}}`, i, []string{"white", "red"}[i%2]))
	}
	page, err := b.DeleteCollection(b.ctx(), "ns", verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1}},
		verb.ListOptions{})
	if err != nil || page.Len != 10 {
		t.Fatalf("%+v %v", page, err)
	}
	page.Close()
	if names, _ := b.names("ns", verb.ListOptions{}); names != "w1 w3 w5 w7 w9" {
		t.Errorf("left: %s", names)
	}
}

// TestDeletedObjectIsShown where its kind wants it to be: as it was, at the revision of its deletion.
func TestDeletedObjectIsShown(t *testing.T) {
	d := shop.Definition()
	d.Strategy.ReturnDeletedObject = true
	b := openOver(t, memory.New(), registry.New(d), registry.Config{})
	w := b.create(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`)
	got, err := b.delete("a", verb.DeleteOptions{})
	if err != nil || !got.Done || !got.Shown {
		t.Fatalf("%+v %v", got, err)
	}
	if shown := b.parse(got.Object); shown.Spec.Color != "red" || shown.UID != w.UID ||
		shown.ResourceVersion == w.ResourceVersion {
		t.Errorf("%+v", shown)
	}
}
