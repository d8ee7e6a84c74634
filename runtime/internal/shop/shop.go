// Package shop is a kind for the tests of package registry, written by hand as a generator would emit it: an internal
// hub, two versions (one of which splits a field and lacks another), defaults, a status and a selectable field.
package shop

import (
	"context"
	"maps"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/registry"
	"k8s.io/apimachinery/pkg/api/operation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Widget is the hub.
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Color  string
	Size   int64
	Parts  []string
	Notes  map[string]string
	Phase  string
	Clicks int64
}

// WidgetV1 is the storage version.
type WidgetV1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SpecV1   `json:"spec"`
	Status            StatusV1 `json:"status,omitzero"`
}

// SpecV1 is what a user wants.
type SpecV1 struct {
	Color string            `json:"color,omitempty"`
	Size  int64             `json:"size,omitempty"`
	Parts []string          `json:"parts,omitempty"`
	Notes map[string]string `json:"notes,omitempty"`
}

// StatusV1 is what is.
type StatusV1 struct {
	Phase  string `json:"phase,omitempty"`
	Clicks int64  `json:"clicks,omitempty"`
}

// WidgetV1beta1 is an older version: colour instead of color, parts as one string.
type WidgetV1beta1 struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              SpecV1beta1 `json:"spec"`
	Status            StatusV1    `json:"status,omitzero"`
}

// SpecV1beta1 is what a user wanted.
type SpecV1beta1 struct {
	Colour string            `json:"colour,omitempty"`
	Size   int64             `json:"size,omitempty"`
	Parts  string            `json:"parts,omitempty"`
	Notes  map[string]string `json:"notes,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Parts, out.Notes = slices.Clone(w.Parts), maps.Clone(w.Notes)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (w *WidgetV1) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec.Parts, out.Spec.Notes = slices.Clone(w.Spec.Parts), maps.Clone(w.Spec.Notes)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (w *WidgetV1beta1) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	out.Spec.Notes = maps.Clone(w.Spec.Notes)
	return &out
}

func v1ToHub(in *WidgetV1, out *Widget) error {
	*out = Widget{ObjectMeta: in.ObjectMeta, Color: in.Spec.Color, Size: in.Spec.Size, Parts: in.Spec.Parts,
		Notes: in.Spec.Notes, Phase: in.Status.Phase, Clicks: in.Status.Clicks}
	return nil
}

func hubToV1(in *Widget, out *WidgetV1) error {
	*out = WidgetV1{ObjectMeta: in.ObjectMeta, Spec: SpecV1{Color: in.Color, Size: in.Size, Parts: in.Parts,
		Notes: in.Notes},
		Status: StatusV1{Phase: in.Phase, Clicks: in.Clicks}}
	return nil
}

func v1beta1ToHub(in *WidgetV1beta1, out *Widget) error {
	*out = Widget{ObjectMeta: in.ObjectMeta, Color: in.Spec.Colour, Size: in.Spec.Size, Notes: in.Spec.Notes,
		Phase: in.Status.Phase, Clicks: in.Status.Clicks}
	if in.Spec.Parts != "" {
		out.Parts = strings.Split(in.Spec.Parts, ",")
	}
	return nil
}

func hubToV1beta1(in *Widget, out *WidgetV1beta1) error {
	*out = WidgetV1beta1{ObjectMeta: in.ObjectMeta, Spec: SpecV1beta1{Colour: in.Color, Size: in.Size,
		Parts: strings.Join(in.Parts, ","), Notes: in.Notes}, Status: StatusV1{Phase: in.Phase, Clicks: in.Clicks}}
	return nil
}

// AddConversions gives each conversion to add, with pointers of the types that it is for.
func AddConversions(add func(from, to any, convert func(from, to any) error)) {
	add(&WidgetV1{}, &Widget{}, func(a, b any) error { return v1ToHub(a.(*WidgetV1), b.(*Widget)) })
	add(&Widget{}, &WidgetV1{}, func(a, b any) error { return hubToV1(a.(*Widget), b.(*WidgetV1)) })
	add(&WidgetV1beta1{}, &Widget{}, func(a, b any) error { return v1beta1ToHub(a.(*WidgetV1beta1), b.(*Widget)) })
	add(&Widget{}, &WidgetV1beta1{}, func(a, b any) error { return hubToV1beta1(a.(*Widget), b.(*WidgetV1beta1)) })
}

// Rules check objects of a version.
type Rules[V api.Object] func(ctx context.Context, op operation.Operation, obj, old V) field.ErrorList

// Definition is the kind as wiring would have it. Each call returns a value of its own, for tests to change.
func Definition() registry.Definition[*Widget] { return Ruled(nil, nil) }

// Ruled is the kind with rules of its versions.
func Ruled(v1 Rules[*WidgetV1], v1beta1 Rules[*WidgetV1beta1]) registry.Definition[*Widget] {
	return registry.Definition[*Widget]{
		Group: "shop.example.com",
		Names: api.Names{Kind: "Widget", Plural: "widgets", ShortNames: []string{"wg"}},
		Scope: api.Namespaced,
		New:   func() *Widget { return &Widget{} },
		Versions: []codec.Version[*Widget]{
			codec.VersionOf(api.VersionInfo{Name: "v1",
				Columns: []api.Column{{Name: "Color", Type: "string"}, {Name: "Age", Type: "date"}}},
				v1Conversion(v1)),
			versionV1beta1(api.VersionInfo{Name: "v1beta1"}, v1beta1),
		},
		Storage: "v1",
		Strategy: registry.Strategy[*Widget]{
			Validate: validate,
			Warnings: warn,
		},
		Subresources: []registry.Subresource[*Widget]{{
			Name:  "status",
			Copy:  func(from, to *Widget) { to.Phase, to.Clicks = from.Phase, from.Clicks },
			Reset: func(w *Widget) { w.Phase, w.Clicks = "", 0 },
			Validate: func(_ context.Context, obj, _ *Widget) (errs field.ErrorList) {
				if obj.Clicks < 0 {
					errs = append(errs, field.Invalid(field.NewPath("status", "clicks"), obj.Clicks,
						"must not be negative"))
				}
				return errs
			},
		}},
		SelectableFields: []api.SelectableField[*Widget]{{Path: "spec.color", Value: func(w *Widget) string {
			return w.Color
		}}},
	}
}

func versionV1beta1(
	info api.VersionInfo, rules Rules[*WidgetV1beta1], cells ...func(*WidgetV1beta1) api.Cell,
) codec.Version[*Widget] {
	return codec.VersionOf(info, codec.Conversion[*Widget, *WidgetV1beta1]{
		New:      func() *WidgetV1beta1 { return &WidgetV1beta1{} },
		Validate: rules,
		ToHub:    v1beta1ToHub,
		FromHub:  hubToV1beta1,
		Columns:  cells,
	})
}

// VersionV1beta1 is a version whose Go type is that of v1beta1, without rules.
func VersionV1beta1(info api.VersionInfo, cells ...func(*WidgetV1beta1) api.Cell) codec.Version[*Widget] {
	return versionV1beta1(info, nil, cells...)
}

func v1Conversion(rules Rules[*WidgetV1]) codec.Conversion[*Widget, *WidgetV1] {
	return codec.Conversion[*Widget, *WidgetV1]{
		New:      func() *WidgetV1 { return &WidgetV1{} },
		Default:  DefaultV1,
		Validate: rules,
		ToHub:    v1ToHub,
		FromHub:  hubToV1,
		Columns: []func(*WidgetV1) api.Cell{
			func(w *WidgetV1) api.Cell { return api.Text(w.Spec.Color) },
			func(w *WidgetV1) api.Cell { return api.Age(w.CreationTimestamp.Time) },
		},
	}
}

// DefaultV1 is what a v1 widget has if nothing is said.
func DefaultV1(w *WidgetV1) {
	if w.Spec.Size == 0 {
		w.Spec.Size = 1
	}
}

func validate(_ context.Context, w *Widget) (errs field.ErrorList) {
	if w.Size < 0 {
		errs = append(errs, field.Invalid(field.NewPath("spec", "size"), w.Size, "must not be negative"))
	}
	return errs
}

func warn(_ context.Context, w, _ *Widget) []string {
	if w.Color == "beige" {
		return []string{"spec.color: beige is out of fashion"}
	}
	return nil
}

// Gadget is a cluster-scoped kind whose one version is the hub.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              GadgetSpec `json:"spec,omitzero"`
}

// GadgetSpec is what a user wants.
type GadgetSpec struct {
	Power int64 `json:"power,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (g *Gadget) DeepCopyObject() runtime.Object {
	out := *g
	out.ObjectMeta = *g.ObjectMeta.DeepCopy()
	return &out
}

// Gadgets is the cluster-scoped kind.
func Gadgets() registry.Definition[*Gadget] {
	return registry.Definition[*Gadget]{
		Group: "shop.example.com",
		Names: api.Names{Kind: "Gadget", Plural: "gadgets"},
		Scope: api.Cluster,
		New:   func() *Gadget { return &Gadget{} },
		Versions: []codec.Version[*Gadget]{
			codec.VersionOf(api.VersionInfo{Name: "v1"},
				codec.Conversion[*Gadget, *Gadget]{New: func() *Gadget { return &Gadget{} }}),
		},
		Storage: "v1",
	}
}
