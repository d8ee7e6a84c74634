package registry_test

import (
	"context"
	"errors"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// unshowable opens widgets of a shelf of which those of size 13 have no v1beta1.
func unshowable(t *testing.T, s *shelf, shown bool) verb.Handle {
	d := shop.Definition()
	d.Strategy.ReturnDeletedObject = shown
	d.Versions[1] = codec.VersionOf(api.VersionInfo{Name: "v1beta1"}, codec.Conversion[*shop.Widget,
		*shop.WidgetV1beta1]{
		New: func() *shop.WidgetV1beta1 { return &shop.WidgetV1beta1{} },
		ToHub: func(v *shop.WidgetV1beta1, w *shop.Widget) error {
			w.ObjectMeta, w.Color, w.Size = v.ObjectMeta, v.Spec.Colour, v.Spec.Size
			return nil
		},
		FromHub: func(w *shop.Widget, v *shop.WidgetV1beta1) error {
			if w.Size == 13 {
				return errors.New("no thirteen")
			}
			v.ObjectMeta, v.Spec.Colour, v.Spec.Size = w.ObjectMeta, w.Color, w.Size
			return nil
		},
	})
	p := s.provider()
	p.Create = func(_ context.Context, obj *shop.Widget, _ bool) (*shop.Widget, error) {
		s.widgets[obj.Name] = obj.DeepCopyObject().(*shop.Widget)
		return obj, nil
	}
	h, err := registry.NewProvided(d, p).Open(t.Context(), registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { h.Close() })
	return h
}

// A provider isn't asked for a write whose answer can't be made.
func TestVirtualWritesThatCouldNotBeAnswered(t *testing.T) {
	s := newShelf("a", "b")
	s.widgets["b"].Size = 13
	h := unshowable(t, s, true)
	opts := verb.WriteOptions{Form: v1beta1}
	_, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"c"},"spec":{"size":13}}`), opts)
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	if s.widgets["c"] != nil {
		t.Error("it was created")
	}
	_, err = h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"size":13}}`), opts)
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	_, err = h.Patch(t.Context(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":13}}`), opts)
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	if s.widgets["a"].Size == 13 {
		t.Error("it was updated")
	}
	_, err = h.Delete(t.Context(), "ns", "b", verb.DeleteOptions{WriteOptions: opts})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	if s.widgets["b"] == nil {
		t.Error("it was deleted")
	}
	// Of a collection all that comes before it is, as in any deletion that fails on its way.
	_, err = h.DeleteCollection(t.Context(), "ns", verb.DeleteOptions{WriteOptions: opts}, verb.ListOptions{})
	wantStatus(t, err, 500, metav1.StatusReasonInternalError, "no thirteen")
	if s.widgets["a"] != nil || s.widgets["b"] == nil {
		t.Errorf("%+v are left", s.widgets)
	}
}

// What can't be shown is deleted if nothing is shown, and what was written is shown as the provider made it.
func TestVirtualDeletionThatShowsNothing(t *testing.T) {
	s := newShelf("a", "b")
	s.widgets["b"].Size = 13
	h := unshowable(t, s, false)
	done, err := h.Delete(t.Context(), "ns", "b", verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1beta1}})
	if err != nil || !done.Done || s.widgets["b"] != nil {
		t.Errorf("%+v, %v; left: %+v", done, err, s.widgets)
	}
	page, err := h.DeleteCollection(t.Context(), "ns",
		verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1beta1}}, verb.ListOptions{})
	if err != nil || page.Len != 1 || names(page)[0] != "a" || len(s.widgets) != 0 {
		t.Errorf("%+v, %v; left: %+v", page, err, s.widgets)
	}
	if _, err := h.Get(t.Context(), "ns", "a", "", v1); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
}
