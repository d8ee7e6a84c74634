package registry_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// TestVerbsOfAStoredKind: the verbs bound what clients ask for, an apply that would create included. The server's own
// logic creates and deletes.
func TestVerbsOfAStoredKind(t *testing.T) {
	d := shop.Definition()
	d.Verbs = []string{"get", "list", "patch"}
	b := open(t, registry.New(d), true)
	if info := b.Info(); !slices.Equal(info.Verbs, d.Verbs) || info.Has("create") || !info.Has("patch") {
		t.Errorf("%+v", info)
	}
	const applied = `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"},` +
		`"spec":{"color":"red"}}`
	opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
	if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, body(applied), opts); !apierrors.IsNotFound(err) {
		t.Errorf("an apply creates: %v", err)
	}
	b.create(`{"metadata":{"name":"a"}}`)
	if _, err := b.Patch(b.ctx(), "ns", "a", "", verb.ApplyPatch, body(applied), opts); err != nil {
		t.Error(err)
	}
	if _, err := b.Delete(b.ctx(), "ns", "a", verb.DeleteOptions{WriteOptions: opts}); err != nil {
		t.Error(err)
	}
}

// TestPathOfNames: whatever the author's rule allows, a name fits into a URL. An object with other faults is refused
// for these.
func TestPathOfNames(t *testing.T) {
	d := shop.Definition()
	d.Strategy.ValidateName = registry.AnyName
	d.Strategy.Validate = func(_ context.Context, w *shop.Widget) field.ErrorList {
		if w.Size < 0 {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "size"), w.Size, "must not be negative")}
		}
		return nil
	}
	b := open(t, registry.New(d), true)
	for data, want := range map[string]string{
		`{"metadata":{"name":"a/b"}}`: `Widget.shop.example.com "a/b" is invalid: metadata.name: Invalid value: ` +
			`"a/b": may not contain '/'`,
		`{"metadata":{"name":"a/b"},"spec":{"size":-1}}`: `Widget.shop.example.com "a/b" is invalid: spec.size: ` +
			`Invalid value: -1: must not be negative`,
	} {
		_, err := b.Create(b.ctx(), "ns", body(data), verb.WriteOptions{Form: v1})
		wantStatus(t, err, 422, metav1.StatusReasonInvalid, want)
	}
	for _, name := range []string{"system:foo", "A", strings.Repeat("a", 254)} {
		b.create(`{"metadata":{"name":"` + name + `"}}`)
	}
}

// TestReviewsHaveAnyName: nobody reads a review by its name.
func TestReviewsHaveAnyName(t *testing.T) {
	h := openVirtual(t, registry.Provider[*shop.Widget]{
		Create: func(_ context.Context, w *shop.Widget, _ bool) (*shop.Widget, error) { return w, nil },
	})
	for _, data := range []string{`{"metadata":{"name":"a/b"}}`, `{"metadata":{"generateName":"a/"}}`, `{}`} {
		if _, err := h.Create(t.Context(), "ns", body(data), verb.WriteOptions{Form: v1}); err != nil {
			t.Errorf("%s: %v", data, err)
		}
	}
}
