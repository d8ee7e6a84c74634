package schema

import (
	"slices"
)

// Property is a field of a JSON object.
type Property struct {
	*Field
	// Owner is the Go struct that declares the field: the object's, or one that it inlines.
	Owner *Type
	// index leads to the field: the places of the fields that inline its owner, and its own.
	index []int
}

// Properties returns the fields of a struct as its JSON has them, including the fields of inlined structs. Of two
// fields with the same name, the one nearer to the outer struct counts, as in Go. A struct's own fields come before the
// inlined ones.
func (t *Type) Properties() []*Property {
	if t.properties == nil {
		t.flatten(t, nil, map[string]bool{}, map[*Type]bool{})
	}
	return t.properties
}

func (t *Type) flatten(from *Type, index []int, names map[string]bool, passed map[*Type]bool) {
	passed[from] = true
	for i, f := range from.Fields {
		if name := f.Go.JSON; !f.Go.Inline && name != "" && !names[name] {
			names[name] = true
			t.properties = append(t.properties, &Property{Field: f, Owner: from, index: append(slices.Clip(index), i)})
		}
	}
	for i, f := range from.Fields {
		if inner := f.pointee(); f.inlined() && !passed[inner] {
			t.flatten(inner, append(slices.Clip(index), i), names, passed)
		}
	}
}

// InSourceOrder returns the properties in the order of the source.
func (t *Type) InSourceOrder() []*Property {
	byIndex := func(a, b *Property) int { return slices.Compare(a.index, b.index) }
	return slices.SortedFunc(slices.Values(t.Properties()), byIndex)
}

// Property returns the property of that name, or nil.
func (t *Type) Property(name string) *Property {
	for _, p := range t.Properties() {
		if p.Go.JSON == name {
			return p
		}
	}
	return nil
}

// Inlines returns the fields by which a struct inlines others, directly and indirectly, the innermost first, one for
// each inlined struct. The markers of an inlined struct apply to the outer one.
func (t *Type) Inlines() []*Property { return t.inlines(map[*Type]bool{t: true}) }

func (t *Type) inlines(passed map[*Type]bool) []*Property {
	var out []*Property
	for _, f := range t.Fields {
		inner := f.pointee()
		if !f.inlined() || passed[inner] {
			continue
		}
		passed[inner] = true
		out = append(append(out, inner.inlines(passed)...), &Property{Field: f, Owner: t})
	}
	return out
}

// Inlined returns the struct that an inlining field has as its type.
func (f *Field) Inlined() *Type { return f.pointee() }
