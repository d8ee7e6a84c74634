package registry_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// shelf is a provider that keeps widgets in a map.
type shelf struct {
	widgets map[string]*shop.Widget
	// conflicts is how many updates are refused first, dry how many writes were dry runs.
	conflicts, dry int
	// slow: what is deleted is still there.
	slow bool
}

func newShelf(names ...string) *shelf {
	s := &shelf{widgets: map[string]*shop.Widget{}}
	for _, name := range names {
		w := view("ns", name, "red")
		w.UID, w.ResourceVersion = types.UID("u-"+name), "1"
		s.widgets[name] = w
	}
	return s
}

func (s *shelf) provider() registry.Provider[*shop.Widget] {
	return registry.Provider[*shop.Widget]{
		Get: func(_ context.Context, _, name string) (*shop.Widget, error) {
			if w := s.widgets[name]; w != nil {
				return w.DeepCopyObject().(*shop.Widget), nil
			}
			return nil, nil
		},
		List: func(context.Context, string, api.Selection) (*registry.List[*shop.Widget], error) {
			list := &registry.List[*shop.Widget]{}
			for _, w := range s.widgets {
				list.Items = append(list.Items, w.DeepCopyObject().(*shop.Widget))
			}
			return list, nil
		},
		Update: func(_ context.Context, obj, old *shop.Widget, dryRun bool) (*shop.Widget, error) {
			if s.conflicts--; s.conflicts >= 0 {
				return nil, apierrors.NewConflict(schema.GroupResource{Resource: "widgets"}, obj.Name,
					fmt.Errorf("changed"))
			}
			obj.ResourceVersion = fmt.Sprint(old.ResourceVersion, "0")
			if dryRun {
				s.dry++
			} else {
				s.widgets[obj.Name] = obj.DeepCopyObject().(*shop.Widget)
			}
			return obj, nil
		},
		Delete: func(_ context.Context, obj *shop.Widget, options *metav1.DeleteOptions) (*shop.Widget, error) {
			if s.slow {
				return obj, nil
			}
			if len(options.DryRun) > 0 {
				s.dry++
			} else {
				delete(s.widgets, obj.Name)
			}
			return nil, nil
		},
	}
}

func TestVirtualUpdate(t *testing.T) {
	s := newShelf("a")
	h := openVirtual(t, s.provider())
	if want := []string{"delete", "deletecollection", "get", "list", "patch", "update"}; !slices.Equal(h.Info().Verbs,
		want) {
		t.Errorf("verbs %v, want %v", h.Info().Verbs, want)
	}
	r, err := h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a","resourceVersion":"1"},`+
		`"spec":{"color":"blue"}}`), verb.WriteOptions{Form: v1})
	if err != nil || s.widgets["a"].Color != "blue" || s.widgets["a"].UID != "u-a" || !strings.Contains(whole(r.Object),
		`"resourceVersion":"10"`) {
		t.Fatalf("%v %s %+v", err, whole(r.Object), s.widgets["a"])
	}
	for data, is := range map[string]func(error) bool{
		`{"metadata":{"name":"a","resourceVersion":"1"}}`:   apierrors.IsConflict,
		`{"metadata":{"name":"a","uid":"other"}}`:           apierrors.IsConflict,
		`{"metadata":{"name":"b"}}`:                         apierrors.IsBadRequest,
		`{"metadata":{"name":"a","namespace":"elsewhere"}}`: apierrors.IsBadRequest,
		`{"metadata":{"name":"a"},"spec":{"size":-1}}`:      apierrors.IsInvalid,
		`{"metadata":{"name":"a"}`:                          apierrors.IsBadRequest,
	} {
		if _, err := h.Update(t.Context(), "ns", "a", "", body(data), verb.WriteOptions{Form: v1}); !is(err) {
			t.Errorf("%s: %v", data, err)
		}
	}
	if _, err := h.Update(t.Context(), "ns", "none", "", body(`{"metadata":{"name":"none"}}`),
		verb.WriteOptions{Form: v1}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	if s.widgets["a"].Color != "blue" || len(s.widgets) != 1 {
		t.Errorf("a refused update changed %+v", s.widgets)
	}
	if _, err = h.Update(t.Context(), "ns", "a", "", body(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`),
		verb.WriteOptions{Form: v1, DryRun: true}); err != nil || s.dry != 1 {
		t.Errorf("a dry run: %v, %d", err, s.dry)
	}
}

func TestVirtualPatch(t *testing.T) {
	for _, c := range []struct {
		name, patch string
		kind        verb.PatchType
		conflicts   int
		color       string
		is          func(error) bool
	}{
		{"merge", `{"spec":{"color":"blue"}}`, verb.MergePatch, 0, "blue", nil},
		{"merge at the second try", `{"spec":{"color":"blue"}}`, verb.MergePatch, 1, "blue", nil},
		{"merge that is never free", `{"spec":{"color":"blue"}}`, verb.MergePatch, 99, "red", apierrors.IsConflict},
		{"JSON", `[{"op":"replace","path":"/spec/color","value":"blue"}]`, verb.JSONPatch, 0, "blue", nil},
		{"JSON that fails", `[{"op":"test","path":"/spec/color","value":"blue"}]`, verb.JSONPatch, 0, "red",
			apierrors.IsInvalid},
		{"strategic", `{"spec":{"color":"blue"}}`, verb.StrategicPatch, 0, "blue", nil},
		{"old version", `{"metadata":{"resourceVersion":"9"}}`, verb.MergePatch, 0, "red", apierrors.IsConflict},
		{"another name", `{"metadata":{"name":"b"}}`, verb.MergePatch, 0, "red", apierrors.IsBadRequest},
		{"no apiVersion", `{"apiVersion":null,"spec":{"color":"blue"}}`, verb.MergePatch, 0, "red",
			apierrors.IsBadRequest},
		{"strategic without apiVersion", `{"apiVersion":null,"spec":{"color":"blue"}}`, verb.StrategicPatch, 0, "blue",
			nil},
		{"apply of no kind", `{}`, verb.ApplyPatch, 0, "red", apierrors.IsBadRequest},
		{"nothing", ``, verb.MergePatch, 0, "red", apierrors.IsBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newShelf("a")
			s.conflicts = c.conflicts
			_, err := openVirtual(t, s.provider()).Patch(t.Context(), "ns", "a", "", c.kind, body(c.patch),
				verb.WriteOptions{Form: v1})
			if failed := c.is != nil; failed != (err != nil) || failed && !c.is(err) &&
				apierrors.ReasonForError(err) != metav1.StatusReasonUnsupportedMediaType {
				t.Error(err)
			}
			if s.widgets["a"].Color != c.color {
				t.Errorf("color %s, want %s", s.widgets["a"].Color, c.color)
			}
		})
	}
}

func TestVirtualDelete(t *testing.T) {
	s := newShelf("a", "b", "c")
	h := openVirtual(t, s.provider())
	other := types.UID("other")
	if _, err := h.Delete(t.Context(), "ns", "a",
		verb.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &other}}); !apierrors.IsConflict(err) {
		t.Error(err)
	}
	form := verb.WriteOptions{Form: v1}
	d, err := h.Delete(t.Context(), "ns", "a", verb.DeleteOptions{WriteOptions: verb.WriteOptions{Form: v1,
		DryRun: true}})
	if err != nil || !d.Done || s.dry != 1 || len(s.widgets) != 3 {
		t.Errorf("a dry run: %v %+v %v", err, d, s)
	}
	if d, err = h.Delete(t.Context(), "ns", "a", verb.DeleteOptions{WriteOptions: form}); err != nil || !d.Done ||
		d.UID != "u-a" || len(s.widgets) != 2 {
		t.Errorf("%v %+v %v", err, d, s.widgets)
	}
	if _, err = h.Delete(t.Context(), "ns", "a", verb.DeleteOptions{WriteOptions: form}); !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	page, err := h.DeleteCollection(t.Context(), "ns", verb.DeleteOptions{WriteOptions: form},
		verb.ListOptions{Selection: api.Selection{Labels: labels.SelectorFromSet(labels.Set{"color": "red"})}})
	if err != nil || page.Len != 2 || len(s.widgets) != 0 {
		t.Errorf("%v %+v %v", err, page, s.widgets)
	}
	s = newShelf("a")
	s.slow = true
	if d, err = openVirtual(t, s.provider()).Delete(t.Context(), "ns", "a",
		verb.DeleteOptions{WriteOptions: form}); err != nil || d.Done {
		t.Errorf("what goes later: %v %+v", err, d)
	}
}

func TestProviderThatLacksGet(t *testing.T) {
	p := newShelf().provider()
	p.Get = nil
	if _, err := registry.NewProvided(shop.Definition(), p).Open(t.Context(), registry.Config{}); err == nil {
		t.Error("an Update without Get was opened")
	}
}

// A client that goes on watching has objects that the watch didn't tell: it hears of their end, by what the provider
// knows of
// them before, and where it doesn't, to be safe. One that begins hears of nothing that it doesn't have.
func TestVirtualWatchThatGoesOn(t *testing.T) {
	type event = registry.WatchEvent[*shop.Widget]
	events := []event{
		{Type: api.Modified, Object: view("ns", "left", "blue")},
		{Type: api.Modified, Object: view("ns", "left", "green")},
		{Type: api.Deleted, Object: view("ns", "left", "green")},
		{Type: api.Deleted, Object: view("ns", "there", "red")},
		{Type: api.Modified, Object: view("ns", "known", "blue"), Old: view("ns", "known", "green")},
		{Type: api.Modified, Object: view("ns", "entered", "red"), Old: view("ns", "entered", "blue")},
		{Type: api.Deleted, Object: view("ns", "never", "blue")},
		{Type: api.Added, Object: view("ns", "end", "red")},
	}
	for version, want := range map[string][]string{
		"":  {"ADDED entered", "ADDED end"},
		"7": {"DELETED left", "DELETED there", "ADDED entered", "ADDED end"},
	} {
		closed := false
		h := openVirtual(t, registry.Provider[*shop.Widget]{
			Watch: func(context.Context, string, api.WatchOptions) (registry.ObjectWatch[*shop.Widget], error) {
				return &script{closed: &closed, batches: [][]event{slices.Clone(events)}}, nil
			},
		})
		w, err := h.Watch(t.Context(), "ns", api.WatchOptions{ResourceVersion: version,
			Selection: api.Selection{Labels: labels.SelectorFromSet(labels.Set{"color": "red"})}}, v1)
		if err != nil {
			t.Fatal(err)
		}
		batch, err := w.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, e := range batch {
			_, name, _ := strings.Cut(whole(e.Object), `"name":"`)
			name, _, _ = strings.Cut(name, `"`)
			got = append(got, string(e.Type)+" "+name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("from %q: %v, want %v", version, got, want)
		}
		w.Close()
	}
}

// TestVirtualApply: what a provider keeps is applied to as what is stored is, and created if it can be.
func TestVirtualApply(t *testing.T) {
	s := newShelf()
	h := openVirtual(t, s.provider())
	apply := func(manager, spec string, opts verb.WriteOptions) (verb.Result, error) {
		opts.Form, opts.FieldManager = v1, manager
		return h.Patch(t.Context(), "ns", "a", "", verb.ApplyPatch, body(config(``, `,"spec":`+spec)), opts)
	}
	if _, err := apply("me", `{"color":"red"}`, verb.WriteOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("a provider without Create: %v", err)
	}
	p, creations := s.provider(), 0
	p.Create = func(_ context.Context, w *shop.Widget, _ bool) (*shop.Widget, error) {
		creations++
		w.ResourceVersion = "1"
		s.widgets[w.Name] = w.DeepCopyObject().(*shop.Widget)
		return w, nil
	}
	h = openVirtual(t, p)
	r, err := apply("me", `{"color":"red","parts":["m"]}`, verb.WriteOptions{})
	if err != nil || !r.Created || creations != 1 || len(s.widgets["a"].ManagedFields) != 1 {
		t.Fatalf("%v %+v, %d creations", err, s.widgets["a"], creations)
	}
	if r, err = apply("me", `{"color":"red","parts":["m"]}`, verb.WriteOptions{}); err != nil || r.Created ||
		s.widgets["a"].ResourceVersion != "1" {
		t.Errorf("the same again: %v, %+v", err, s.widgets["a"])
	}
	if _, err = apply("you", `{"color":"blue"}`, verb.WriteOptions{}); !apierrors.IsConflict(err) ||
		!strings.Contains(err.Error(), `conflict with "me": .spec.color`) {
		t.Errorf("what another has applied: %v", err)
	}
	s.conflicts = 2
	if _, err = apply("you", `{"color":"blue"}`, verb.WriteOptions{Force: true}); err != nil ||
		s.widgets["a"].Color != "blue" {
		t.Errorf("by force: %v, %+v", err, s.widgets["a"])
	}
	if _, err = apply("me", `{}`, verb.WriteOptions{}); err != nil || len(s.widgets["a"].Parts) > 0 ||
		s.widgets["a"].Color != "blue" {
		t.Errorf("what isn't applied any more: %v, %+v", err, s.widgets["a"])
	}
	update := body(`{"metadata":{"name":"a"},"spec":{"color":"green"}}`)
	if _, err = h.Update(t.Context(), "ns", "a", "", update, verb.WriteOptions{Form: v1,
		FieldManager: "they"}); err != nil {
		t.Fatal(err)
	}
	if _, err = apply("you", `{"color":"blue"}`, verb.WriteOptions{}); !apierrors.IsConflict(err) ||
		!strings.Contains(err.Error(), `conflict with "they"`) {
		t.Errorf("what was updated: %v", err)
	}
	if _, err = apply("you", `{"size":-1}`, verb.WriteOptions{Force: true}); !apierrors.IsInvalid(err) {
		t.Errorf("what is invalid: %v", err)
	}
}

// TestVirtualGenerateName: names are made here, until one is free.
func TestVirtualGenerateName(t *testing.T) {
	var names []string
	taken := 2
	h := openVirtual(t, registry.Provider[*shop.Widget]{
		Create: func(_ context.Context, w *shop.Widget, _ bool) (*shop.Widget, error) {
			names = append(names, w.Name)
			if len(names) <= taken {
				return nil, apierrors.NewAlreadyExists(schema.GroupResource{Resource: "widgets"}, w.Name)
			}
			return w, nil
		},
	})
	create := func(data string) (verb.Result, error) {
		names = nil
		return h.Create(t.Context(), "ns", body(data), verb.WriteOptions{Form: v1})
	}
	r, err := create(`{"metadata":{"generateName":"a-"}}`)
	if err != nil || len(names) != 3 || names[0] == names[2] || !strings.HasPrefix(names[2], "a-") ||
		!strings.Contains(whole(r.Object), `"name":"`+names[2]+`"`) {
		t.Errorf("%v %v %s", err, names, whole(r.Object))
	}
	taken = 1000
	if _, err = create(`{"metadata":{"generateName":"a-"}}`); !apierrors.IsAlreadyExists(err) ||
		!strings.Contains(err.Error(), "not able to generate a unique name") || len(names) > 100 {
		t.Errorf("%v, %v", names, err)
	}
	if _, err = create(`{"metadata":{"name":"b","generateName":"a-"}}`); !apierrors.IsAlreadyExists(err) ||
		len(names) != 1 {
		t.Errorf("%v, %v", names, err)
	}
	taken = 0
	if _, err = create(`{"metadata":{}}`); err != nil || names[0] != "" {
		t.Errorf("%v, %v", names, err)
	}
}
