package schema

import (
	"cmp"
	"encoding/json"
	"slices"

	"apigen.dev/generator/internal/model"
)

// Layer holds the markers of values at one place: at a field, at a type, or for elements.
type Layer struct {
	*model.Schema
	// Type is where the markers stand; it is nil for those of a field or of elements.
	Type *model.Type
}

// Layers are all layers of markers of a value, the nearest first.
type Layers []Layer

func layersOf(t *model.Type) Layers {
	var out Layers
	for _, layer := range slices.Backward(t.Layers()) {
		if layer.Name != "" {
			out = append(out, Layer{Schema: &layer.Schema, Type: layer})
		}
	}
	return out
}

// Enforced returns the constraints that a server checks for all values of a type: those of the type's own markers, and
// those of controller-gen's markers at the types that it is declared over. Kubernetes' declarative markers apply only
// to the type that has them.
func Enforced(t *model.Type) *model.Schema {
	if t.Of == nil {
		return &t.Schema
	}
	out, below := t.Schema, Enforced(t.Of)
	inherited := slices.DeleteFunc(slices.Clone(below.Rules), func(r model.Rule) bool { return r.Declarative })
	out.Rules = append(inherited, out.Rules...)
	out.ListType = cmp.Or(out.ListType, below.ListType)
	if out.Items == nil {
		out.Items = below.Items
	}
	if len(out.ListMapKeys) == 0 {
		out.ListMapKeys = below.ListMapKeys
	}
	return &out
}

// Text returns the text of the nearest layer that has one.
func (l Layers) Text(of func(*model.Schema) string) string {
	for _, layer := range l {
		if text := of(layer.Schema); text != "" {
			return text
		}
	}
	return ""
}

// Flag reports whether the condition holds in any layer.
func (l Layers) Flag(of func(*model.Schema) bool) bool {
	return slices.ContainsFunc(l, func(layer Layer) bool { return of(layer.Schema) })
}

// Strictest returns the effective bound where several layers have one: the highest lower bound or the lowest upper
// bound. It returns nil if there is none.
func (l Layers) Strictest(check model.Check, lower bool) *float64 {
	var out *float64
	for _, layer := range l {
		if bound := layer.Limit(check); bound != nil && (out == nil || (*bound > *out) == lower) {
			out = bound
		}
	}
	return out
}

// Enum returns the values that a field takes, as JSON: those of the nearest layer with a marker for them, else the
// constants of the nearest type that is an enumeration. It returns nil if the field takes any value.
func (l Layers) Enum() []string {
	for _, layer := range l {
		if len(layer.Enum) > 0 {
			return slices.Clone(layer.Enum)
		}
	}
	for _, layer := range l {
		if layer.Type == nil || !layer.Type.Enum {
			continue
		}
		out := []string{}
		for _, c := range Constants(layer.Type) {
			out = append(out, c.Value)
		}
		return out
	}
	return nil
}

// Patterns returns all patterns that a string must match, each once.
func (l Layers) Patterns() []string {
	var out []string
	for _, layer := range l {
		if layer.Pattern != "" && !slices.Contains(out, layer.Pattern) {
			out = append(out, layer.Pattern)
		}
	}
	return out
}

// Items returns the layers of the elements.
func (l Layers) Items() Layers {
	var out Layers
	for _, layer := range l {
		if layer.Schema.Items != nil {
			out = append(out, Layer{Schema: layer.Schema.Items})
		}
	}
	return out
}

// Override returns the form that markers set instead of the Go type's; false if they set none.
func Override(s *model.Schema) (JSON, bool) {
	switch {
	case s.Schemaless:
		return Any, true
	case s.IntOrString:
		return IntOrString, true
	}
	return JSON(s.Type), s.Type != ""
}

// Value is a place that holds values of a type, with the markers that apply there.
type Value struct {
	Form
	// Type is nil where markers put another form in the place of the type's.
	Type   *Type
	Layers Layers
}

// Value returns the place where the type is used with these layers of its own. Named pointers are followed.
func (t *Type) Value(use ...Layer) Value {
	v := Value{Type: t, Layers: append(slices.Clip(Layers(use)), t.Layers...)}
	for range 8 { // type P *P has no end
		if v.Type.JSON != Pointer || v.Type.Elem == nil {
			break
		}
		v.Type = v.Type.Elem
		v.Layers = append(v.Layers, v.Type.Layers...)
	}
	v.Form = v.Type.Form
	for _, layer := range v.Layers {
		form, ok := Override(layer.Schema)
		if !ok || form == v.JSON || form == Object && v.JSON == Map {
			continue
		}
		v.Form, v.Type = Form{JSON: form, Format: v.Format}, nil
		if form == Any || form == IntOrString {
			v.Format = ""
		}
		break
	}
	if format := v.Layers.Text(func(s *model.Schema) string { return s.Format }); format != "" {
		v.Format = format
	}
	return v
}

// Value returns the place of the field.
func (f *Field) Value() Value { return f.Type.Value(Layer{Schema: &f.Go.Schema}) }

// Elem returns the place of the elements of a list or a map.
func (v Value) Elem() Value { return v.Type.Elem.Value(v.Layers.Items()...) }

// Canonical returns JSON in one form. It takes a text that is not JSON as a string.
func Canonical(text string) string {
	var value any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		value = text
	}
	out, err := json.Marshal(value)
	if err != nil {
		return text
	}
	return string(out)
}
