package registry_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// counting is the widget kind whose defaulting, preparation and validation are counted.
func counting(defaulted, prepared *int, seen *[]*shop.Widget) registry.Definition[*shop.Widget] {
	d := shop.Definition()
	d.Versions[0] = codec.VersionOf(api.VersionInfo{Name: "v1"}, codec.Conversion[*shop.Widget, *shop.WidgetV1]{
		New:     func() *shop.WidgetV1 { return &shop.WidgetV1{} },
		Default: func(*shop.WidgetV1) { *defaulted++ },
		ToHub: func(v *shop.WidgetV1, w *shop.Widget) error {
			w.ObjectMeta, w.Color = v.ObjectMeta, v.Spec.Color
			return nil
		},
		FromHub: func(w *shop.Widget, v *shop.WidgetV1) error {
			v.ObjectMeta, v.Spec.Color = w.ObjectMeta, w.Color
			return nil
		},
	})
	d.Versions = d.Versions[:1]
	d.Strategy.PrepareForCreate = func(context.Context, *shop.Widget) { *prepared++ }
	d.Strategy.Validate = func(_ context.Context, w *shop.Widget) field.ErrorList {
		*seen = append(*seen, w.DeepCopyObject().(*shop.Widget))
		return nil
	}
	return d
}

// A generated name that is taken repeats the steps behind mutating admission, and none before it: the body is decoded
// once, and each name comes with a UID of its own.
func TestCollisionOfGeneratedNames(t *testing.T) {
	for _, end := range []string{"storage", "provider"} {
		t.Run(end, func(t *testing.T) {
			var defaulted, prepared int
			var seen []*shop.Widget
			d := counting(&defaulted, &prepared, &seen)
			resource := registry.New(d)
			if end == "provider" {
				resource = registry.NewProvided(d, registry.Provider[*shop.Widget]{
					Create: func(_ context.Context, w *shop.Widget, _ bool) (*shop.Widget, error) {
						return nil, apierrors.NewAlreadyExists(schema.GroupResource{Group: "shop.example.com",
							Resource: "widgets"}, w.Name)
					},
				})
			}
			backend := &full{Backend: newMemory(t)}
			h, err := resource.Open(t.Context(), registry.Config{Backend: backend, Prefix: "/registry",
				DisableCache: true})
			if err != nil {
				t.Fatal(err)
			}
			defer h.Close()
			defaulted = 0
			_, err = h.Create(t.Context(), "ns", body(`{"metadata":{"generateName":"a-"}}`),
				verb.WriteOptions{Form: v1})
			s := wantStatus(t, err, 409, metav1.StatusReasonAlreadyExists,
				"the server was not able to generate a unique name")
			if s.Details.RetryAfterSeconds != 1 {
				t.Errorf("%+v", s.Details)
			}
			// Whether the name is taken by an object that is being deleted, storage finds out by decoding that object.
			if end == "provider" && defaulted != 1 {
				t.Errorf("defaulted %d times", defaulted)
			}
			if prepared != 8 || len(seen) != 8 {
				t.Errorf("prepared %d times, validated %d times", prepared, len(seen))
			}
			names, uids := map[string]bool{}, map[string]bool{}
			for _, w := range seen {
				names[w.Name], uids[string(w.UID)] = true, true
			}
			if len(names) != 8 || end == "storage" && (len(uids) != 8 || uids[""]) {
				t.Errorf("names %v, UIDs %v", names, uids)
			}
		})
	}
}

// A strategy means the same to a kind without storage.
func TestStrategyOfAProvider(t *testing.T) {
	k := &keeper{widgets: map[string]*shop.Widget{}}
	d := shop.Definition()
	d.Strategy = registry.Strategy[*shop.Widget]{
		PrepareForCreate: func(_ context.Context, w *shop.Widget) { w.Size = 5 },
		PrepareForUpdate: func(_ context.Context, w, old *shop.Widget) { w.Size = old.Size + 1 },
		Canonicalize:     func(w *shop.Widget) { w.Color = strings.ToLower(w.Color) },
		ValidateName: func(name string,
			_ bool) []string {
			return map[bool][]string{true: {"no"}}[name == "no"]
		},
		AllowCreateOnUpdate:    true,
		RequireVersionOnUpdate: true,
	}
	h, err := registry.NewProvided(d, k.provider()).Open(t.Context(), registry.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	opts := verb.WriteOptions{Form: v1}
	r, err := h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"color":"RED"}}`), opts)
	if w := k.widgets["a"]; err != nil || !r.Created || w.Color != "red" || w.Size != 5 {
		t.Fatalf("%+v, %+v, %v", r, w, err)
	}
	_, err = h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"}}`), opts)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, "must be specified for an update")
	_, err = h.Patch(t.Context(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"color":"Blue"}}`), opts)
	if w := k.widgets["a"]; err != nil || w.Color != "blue" || w.Size != 6 {
		t.Errorf("%+v, %v", w, err)
	}
	_, err = h.Create(t.Context(), "ns", body(`{"metadata":{"name":"no"}}`), opts)
	wantStatus(t, err, 422, metav1.StatusReasonInvalid, `metadata.name: Invalid value: "no": no`)
}

// A write that a provider takes doesn't fail of field ownership that can't be found out; the server's log tells of it.
func TestFieldOwnershipOfAProviderIsLogged(t *testing.T) {
	var log bytes.Buffer
	k := &keeper{widgets: map[string]*shop.Widget{}}
	h, err := registry.NewProvided(shop.Definition(), k.provider()).Open(t.Context(), registry.Config{
		Log: slog.New(slog.NewTextHandler(&log, nil)), Schemas: ownership.NewSchemas("shop.example.com", unownable()),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
	if _, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a"},"spec":{"parts":["p"]}}`),
		opts); err != nil {
		t.Fatal(err)
	}
	if text := log.String(); !strings.Contains(text, "field ownership was kept as it was") ||
		!strings.Contains(text, "name=a") {
		t.Errorf("logged %q", text)
	}
}

// A provider that says that somebody was faster is asked again with the object as it is by then.
func TestUpdateOfAProviderIsTriedAgain(t *testing.T) {
	s := newShelf("a")
	s.conflicts = 2
	h := openVirtual(t, s.provider())
	_, err := h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"color":"blue"}}`),
		verb.WriteOptions{Form: v1})
	if err != nil || s.widgets["a"].Color != "blue" {
		t.Errorf("%+v, %v", s.widgets["a"], err)
	}
}
