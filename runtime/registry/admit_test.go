package registry_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var widgetV1 = schema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}

// scribe is a plug-in that writes down what it sees.
type scribe struct {
	mu   sync.Mutex // guards seen: the objects of a collection are deleted at the same time
	seen []string
}

func (s *scribe) plugin() admission.Plugin {
	return admission.Plugin{Name: "Scribe", Admit: s.write("admit"), Validate: s.write("validate")}
}

func (s *scribe) write(stage string) func(context.Context, *admission.Attributes) error {
	return func(_ context.Context, a *admission.Attributes) error {
		line := fmt.Sprintf("%s %s %s/%s", stage, a.Operation, a.Namespace, a.Name)
		if a.Subresource != "" {
			line += " " + a.Subresource
		}
		for _, o := range []struct {
			name   string
			object admission.Object
		}{{"object", a.Object}, {"old", a.Old}} {
			if o.object == nil {
				continue
			}
			content, err := o.object.Content(a.Kind)
			if err != nil {
				return err
			}
			spec, _ := content["spec"].(map[string]any)
			line += fmt.Sprintf(" %s:%v", o.name, spec["color"])
		}
		if a.DryRun {
			line += " dry"
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.seen = append(s.seen, line+" "+a.Options.GetObjectKind().GroupVersionKind().Kind)
		return nil
	}
}

func openAdmitted(t *testing.T, plugins ...admission.Plugin) *bench {
	t.Helper()
	d := shop.Definition()
	d.Strategy.AllowCreateOnUpdate = true
	return openOver(t, newMemory(t), registry.New(d), registry.Config{
		DisableCache: true, Schemas: documents(), Admission: admission.NewChain(plugins, nil),
	})
}

// Each write passes admission with what it does, the new object and the old one.
func TestAdmissionSees(t *testing.T) {
	s := new(scribe)
	h := openAdmitted(t, s.plugin())
	ctx, opts := t.Context(), verb.WriteOptions{Form: v1, FieldManager: "m"}
	dry := opts
	dry.DryRun = true
	color := func(name, color string) verb.Body {
		return body(fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"name":%q},`+
			`"spec":{"color":%q}}`, name, color))
	}
	cases := []struct {
		name string
		do   func() error
		want []string
	}{
		{"create", func() error {
			_, err := h.Create(ctx, "ns", color("a", "red"), opts)
			return err
		}, []string{"CREATE ns/a object:red CreateOptions"}},
		{"update", func() error {
			_, err := h.Update(ctx, "ns", "a", "", color("a", "blue"), opts)
			return err
		}, []string{"UPDATE ns/a object:blue old:red UpdateOptions"}},
		{"patch, dry", func() error {
			_, err := h.Patch(ctx, "ns", "a", "", verb.MergePatch, body(`{"spec":{"color":"green"}}`), dry)
			return err
		}, []string{"UPDATE ns/a object:green old:blue dry UpdateOptions"}},
		{"status", func() error {
			_, err := h.Update(ctx, "ns", "a", "status", body(`{"metadata":{"name":"a"},"status":{"phase":"P"}}`), opts)
			return err
		}, nil}, // below: the mutating plug-ins see what was sent
		{"apply that creates", func() error {
			_, err := h.Patch(ctx, "ns", "b", "", verb.ApplyPatch, color("b", "red"), opts)
			return err
		}, []string{"CREATE ns/b object:red CreateOptions"}},
		{"update that creates", func() error {
			_, err := h.Update(ctx, "ns", "c", "", color("c", "red"), opts)
			return err
		}, []string{"CREATE ns/c object:red CreateOptions"}},
		{"delete", func() error {
			_, err := h.Delete(ctx, "ns", "a", verb.DeleteOptions{WriteOptions: opts})
			return err
		}, []string{"DELETE ns/a old:blue DeleteOptions"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s.seen = nil
			if err := c.do(); err != nil {
				t.Fatal(err)
			}
			var want []string
			for _, stage := range []string{"admit ", "validate "} {
				for _, line := range c.want {
					want = append(want, stage+line)
				}
			}
			if c.name == "status" {
				want = []string{
					"admit UPDATE ns/a status object:<nil> old:blue UpdateOptions",
					"validate UPDATE ns/a status object:blue old:blue UpdateOptions",
				}
			}
			if !slices.Equal(s.seen, want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(s.seen, "\n"), strings.Join(want, "\n"))
			}
		})
	}
	s.seen = nil
	page, err := h.DeleteCollection(ctx, "ns", verb.DeleteOptions{WriteOptions: opts}, verb.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	page.Close()
	slices.Sort(s.seen)
	want := []string{
		"admit DELETE ns/ old:red DeleteOptions", "admit DELETE ns/ old:red DeleteOptions",
		"validate DELETE ns/ old:red DeleteOptions", "validate DELETE ns/ old:red DeleteOptions",
	}
	if !slices.Equal(s.seen, want) {
		t.Errorf("of a collection, got\n%s", strings.Join(s.seen, "\n"))
	}
}

// A plug-in changes the Go value or replaces the JSON; the change is defaulted, validated and stored.
func TestAdmissionChanges(t *testing.T) {
	plugin := admission.For(admission.Typed[*shop.Widget]{
		Name: "Painter", Admit: func(_ context.Context, a *admission.Attributes, w, _ *shop.Widget) error {
			a.Warn("painted")
			w.Color = "gold"
			return nil
		},
	})
	replace := admission.Plugin{Name: "Replacer", Admit: func(_ context.Context, a *admission.Attributes) error {
		data, err := a.Object.JSON(widgetV1)
		if err != nil {
			return err
		}
		return a.Object.Replace(widgetV1, []byte(strings.Replace(string(data), `"gold"`, `"golden"`, 1)))
	}}
	h := openAdmitted(t, plugin, replace)
	opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
	result, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a"},"spec":{"color":"red"}}`), opts)
	if err != nil || !slices.Equal(result.Warnings, []string{"painted"}) {
		t.Fatal(result.Warnings, err)
	}
	if stored, _ := h.stored("/registry/shop.example.com/widgets/ns/a"); !strings.Contains(stored, `"golden"`) {
		t.Error(stored)
	}
}

// What a mutating plug-in makes of an object is validated, and so is that it stays the object of the request.
func TestAdmissionIsChecked(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(w *shop.Widget)
		code    int32
		reason  metav1.StatusReason
		message string
	}{
		"name":      {func(w *shop.Widget) { w.Name = "b" }, 422, metav1.StatusReasonInvalid, "field is immutable"},
		"uid":       {func(w *shop.Widget) { w.UID = "1" }, 422, metav1.StatusReasonInvalid, "field is immutable"},
		"namespace": {func(w *shop.Widget) { w.Namespace = "b" }, 400, metav1.StatusReasonBadRequest, "does not match"},
	} {
		t.Run(name, func(t *testing.T) {
			h := openAdmitted(t, admission.For(admission.Typed[*shop.Widget]{
				Name: "Breaker", Operations: []admission.Operation{admission.Update},
				Admit: func(_ context.Context, _ *admission.Attributes, w, _ *shop.Widget) error {
					c.change(w)
					return nil
				},
			}))
			opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
			if _, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a"}}`), opts); err != nil {
				t.Fatal(err)
			}
			_, err := h.Patch(t.Context(), "ns", "a", "", verb.MergePatch, body(`{"spec":{"size":1}}`), opts)
			wantStatus(t, err, c.code, c.reason, c.message)
		})
	}
}

// A refusal stores nothing, and the client gets the status of the plug-in, or 403.
func TestAdmissionRefuses(t *testing.T) {
	for _, stage := range []string{"admit", "validate"} {
		p := admission.Plugin{Name: "No"}
		refuse := func(context.Context, *admission.Attributes) error { return errors.New("no") }
		if p.Admit = refuse; stage == "validate" {
			p.Admit, p.Validate = nil, refuse
		}
		h := openAdmitted(t, p)
		opts := verb.WriteOptions{Form: v1, FieldManager: "m"}
		_, err := h.Create(t.Context(), "ns", body(`{"metadata":{"name":"a"}}`), opts)
		wantStatus(t, err, 403, metav1.StatusReasonForbidden, `widgets.shop.example.com "a" is forbidden: no`)
		kv, _, err := h.backend.Get(t.Context(), "/registry/shop.example.com/widgets/ns/a", storage.GetOptions{})
		if kv != nil || err != nil {
			t.Errorf("%s: %v %v", stage, kv, err)
		}
	}
}

// A plug-in learns what became of each write that it let pass.
func TestAdmissionLearnsTheOutcome(t *testing.T) {
	var outcomes []admission.Outcome
	h := openAdmitted(t, admission.Plugin{Name: "Ledger", Validate: func(
		_ context.Context, a *admission.Attributes,
	) error {
		a.OnOutcome(func(_ context.Context, outcome admission.Outcome) { outcomes = append(outcomes, outcome) })
		return nil
	}})
	ctx, opts := t.Context(), verb.WriteOptions{Form: v1, FieldManager: "m"}
	dry := opts
	dry.DryRun = true
	const held = `{"metadata":{"name":"a","finalizers":["x.example.com/y"]}}`
	create := func(text string, opts verb.WriteOptions) func() error {
		return func() error {
			_, err := h.Create(ctx, "ns", body(text), opts)
			return err
		}
	}
	for _, c := range []struct {
		name string
		do   func() error
		want []admission.Outcome
	}{
		{"dry", create(held, dry), nil},
		{"create", create(held, opts), []admission.Outcome{admission.Written}},
		{"again", create(held, opts), []admission.Outcome{admission.Rejected}},
		{"mark", func() error {
			_, err := h.Delete(ctx, "ns", "a", verb.DeleteOptions{WriteOptions: opts})
			return err
		}, []admission.Outcome{admission.Written}},
		{"last finalizer", func() error {
			_, err := h.Patch(ctx, "ns", "a", "", verb.MergePatch, body(`{"metadata":{"finalizers":null}}`), opts)
			return err
		}, []admission.Outcome{admission.Removed}},
		{"create another", create(`{"metadata":{"name":"b"}}`, opts), []admission.Outcome{admission.Written}},
		{"delete", func() error {
			_, err := h.Delete(ctx, "ns", "b", verb.DeleteOptions{WriteOptions: opts})
			return err
		}, []admission.Outcome{admission.Removed}},
	} {
		outcomes = nil
		if err := c.do(); err != nil && c.name != "again" {
			t.Errorf("%s: %v", c.name, err)
		}
		if !slices.Equal(outcomes, c.want) {
			t.Errorf("%s: %v, want %v", c.name, outcomes, c.want)
		}
	}
}
