package registry_test

import (
	"context"
	"errors"
	"testing"

	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// guarded are widgets of which nobody may make a red one, and whose size nobody may raise. Each write of a red one
// would fail the later steps, too.
func guarded() registry.Definition[*shop.Widget] {
	d := shop.Definition()
	d.Strategy.AllowCreateOnUpdate = true
	d.Strategy.AuthorizeCreate = func(_ context.Context, w *shop.Widget) error {
		if w.Color == "red" {
			return errors.New("red is the king's")
		}
		return nil
	}
	d.Strategy.AuthorizeUpdate = func(_ context.Context, w, old *shop.Widget) error {
		if w.Size > old.Size || w.Phase == "Grown" {
			return apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, w.Name, errors.New("it would grow"))
		}
		return nil
	}
	d.Strategy.PrepareForCreate = func(_ context.Context, w *shop.Widget) { w.Color = "blue" }
	d.Strategy.Validate = func(_ context.Context, w *shop.Widget) field.ErrorList {
		if w.Size > 10 {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "size"), w.Size, "too large")}
		}
		return nil
	}
	return d
}

// The strategy's checks of permissions run on each kind of write, before the object is prepared and validated.
func TestAuthorize(t *testing.T) {
	k := &keeper{widgets: map[string]*shop.Widget{}}
	provided := guarded()
	provided.Subresources = nil // parts of the object need storage
	for end, resource := range map[string]registry.Resource{
		"storage": registry.New(guarded()), "provider": registry.NewProvided(provided, k.provider()),
	} {
		t.Run(end, func(t *testing.T) {
			h, err := resource.Open(t.Context(), registry.Config{Backend: newMemory(t), Prefix: "/registry",
				DisableCache: true, Schemas: documents()})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			checkGuarded(t, h)
			if end == "provider" {
				return
			}
			grown := body(`{"metadata":{"name":"a"},"status":{"phase":"Grown"}}`)
			_, err = h.Update(t.Context(), "ns", "a", "status", grown, verb.WriteOptions{Form: v1})
			wantStatus(t, err, 409, metav1.StatusReasonConflict, "it would grow")
		})
	}
}

func checkGuarded(t *testing.T, h verb.Handle) {
	ctx, opts := t.Context(), verb.WriteOptions{Form: v1, FieldManager: "m"}
	const red = `{"metadata":{"name":"a"},"spec":{"color":"red"}}`
	const large = `{"metadata":{"name":"a"},"spec":{"size":11}}`
	const forbidden = `widgets.shop.example.com "a" is forbidden: red is the king's`
	refused := func(name string, err error, code int32, reason metav1.StatusReason, message string) {
		t.Helper()
		t.Run(name, func(t *testing.T) { t.Helper(); wantStatus(t, err, code, reason, message) })
	}
	_, err := h.Create(ctx, "ns", body(red), opts)
	refused("create", err, 403, metav1.StatusReasonForbidden, forbidden)
	_, err = h.Update(ctx, "ns", "a", "", body(red), opts)
	refused("create by update", err, 403, metav1.StatusReasonForbidden, forbidden)
	_, err = h.Patch(ctx, "ns", "a", "", verb.ApplyPatch,
		body(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"},`+
			`"spec":{"color":"red"}}`), opts)
	refused("create by apply", err, 403, metav1.StatusReasonForbidden, forbidden)
	_, err = h.Create(ctx, "ns", body(`{"metadata":{"generateName":"b-"},"spec":{"color":"red"}}`), opts)
	refused("generated name", err, 403, metav1.StatusReasonForbidden,
		`widgets.shop.example.com is forbidden: red is the king's`)

	if _, err := h.Create(ctx, "ns", body(`{"metadata":{"name":"a"},"spec":{"size":1}}`), opts); err != nil {
		t.Fatal(err)
	}
	_, err = h.Update(ctx, "ns", "a", "", body(large), opts)
	refused("update", err, 409, metav1.StatusReasonConflict, "it would grow")
	_, err = h.Patch(ctx, "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":11}}`), opts)
	refused("patch", err, 409, metav1.StatusReasonConflict, "it would grow")
	if _, err := h.Update(ctx, "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`),
		opts); err != nil {
		t.Error(err)
	}
}

// Who may write but not create changes an object, and makes none, by an update as little as by an apply.
func TestAuthorizeCreation(t *testing.T) {
	d := shop.Definition()
	d.Strategy.AllowCreateOnUpdate = true
	h, err := registry.New(d).Open(t.Context(), registry.Config{Backend: newMemory(t), Prefix: "/registry",
		DisableCache: true, Schemas: documents()})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	asked := 0
	limited := verb.WriteOptions{Form: v1, FieldManager: "m", MayCreate: func() error {
		asked++
		return apierrors.NewForbidden(schema.GroupResource{Resource: "widgets"}, "a", errors.New("no"))
	}}
	write := map[string]func(verb.WriteOptions) error{
		"update": func(opts verb.WriteOptions) error {
			_, err := h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"}}`), opts)
			return err
		},
		"apply": func(opts verb.WriteOptions) error {
			_, err := h.Patch(t.Context(), "ns", "a", "", verb.ApplyPatch,
				body(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":"a"}}`), opts)
			return err
		},
	}
	for name, do := range write {
		if err := do(limited); !apierrors.IsForbidden(err) {
			t.Errorf("%s makes an object: %v", name, err)
		}
	}
	if _, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a"}}`), limited); err != nil {
		t.Errorf("a creation was authorized before: %v", err)
	}
	for name, do := range write {
		if err := do(limited); err != nil {
			t.Errorf("%s of an object that exists: %v", name, err)
		}
	}
	if asked != len(write) {
		t.Errorf("asked %d times", asked)
	}
}
