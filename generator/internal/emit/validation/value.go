package validation

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// value is a value that the emitted code checks.
type value struct {
	typ   *model.Type // no pointer
	place gocode.Place
	// path is the variable that holds the path of the value.
	path string
	old  oldValue
	// pointer: the field holds a pointer to the value, and the place is the pointee's.
	pointer bool
	// label names variables that the value needs, and name is the field's on the wire, if it is one.
	label, name string
	// self: obj points to the value, and oldObj to the old one.
	self bool
}

// self returns the value that obj points to.
func self(t *model.Type, label string) value {
	return value{typ: t, place: gocode.Pointee("obj"), path: "fldPath", old: oldValue{owner: t,
		place: gocode.Pointee}, label: label, self: true}
}

// oldValue locates the old value below oldObj, which may be nil and points to owner.
type oldValue struct {
	owner *model.Type
	place func(name string) gocode.Place
}

// oldAddress returns a pointer to the old value, nil if there is none.
func (w *writer) oldAddress(v value) jen.Code {
	if v.self {
		return jen.Id("oldObj")
	}
	old := v.old.place("old").Address()
	if v.pointer {
		old = v.old.place("old").Value()
	}
	return w.oldField(v, w.file.Code("*$", w.file.Type(v.typ)), old)
}

// oldList returns the old list or map.
func (w *writer) oldList(v value) jen.Code {
	if v.pointer {
		return jen.Nil()
	}
	return w.oldField(v, w.file.Type(v.typ), v.old.place("old").Value())
}

func (w *writer) oldField(v value, result, value jen.Code) jen.Code {
	return w.file.Code("safe.Field(oldObj, func(old *$) $ { return $ })", w.file.Type(v.old.owner), result, value)
}

// differs returns the condition that the value differs from the old one, given that oldObj isn't nil.
func (w *writer) differs(v value) *jen.Statement { return w.compared(v, "!=", "!") }

func (w *writer) equals(v value) *jen.Statement { return w.compared(v, "==", "") }

// compared compares the value with the old one: by an operator, or by the result of a function behind a prefix.
func (w *writer) compared(v value, op, prefix string) *jen.Statement {
	old, value := v.old.place("oldObj"), v.place.Address()
	switch {
	case !v.pointer && direct(v.typ):
		return w.file.Code("$ "+op+" $", v.place.Value(), old.Value())
	case direct(v.typ):
		return w.file.Code(prefix+"validate.DirectEqual($, $)", value, old.Value())
	case v.pointer:
		return w.file.Code(prefix+"$", w.same(v.typ, value, old.Value()))
	case v.self:
		return w.file.Code(prefix+"$", w.same(v.typ, value, old.Address()))
	}
	return w.file.Code(prefix+"$", w.same(v.typ, v.place.Value(), old.Value()))
}

// same returns the condition that two values of a type are equal. apimachinery's comparison panics at unexported
// fields; values that have some are compared by their JSON.
func (w *writer) same(t *model.Type, a, b jen.Code) *jen.Statement {
	if hasUnexported(t, map[*model.Type]bool{}) {
		return w.file.Code(w.common(sameJSON)+"($, $)", a, b)
	}
	return w.file.Code("equality.Semantic.DeepEqual($, $)", a, b)
}

// hasUnexported reports whether a type has unexported fields inside for which apimachinery has no comparison.
func hasUnexported(t *model.Type, seen map[*model.Type]bool) bool {
	if t == nil || seen[t] || hasComparison(t) {
		return false
	}
	seen[t] = true
	for _, f := range t.Fields {
		if !f.Exported || hasUnexported(f.Type, seen) {
			return true
		}
	}
	return hasUnexported(t.Key, seen) || hasUnexported(t.Elem, seen)
}

// hasComparison reports whether apimachinery has a comparison of its own for a type.
func hasComparison(t *model.Type) bool {
	return slices.Contains([]schema.WellKnown{schema.Quantity, schema.Time, schema.MicroTime}, schema.KnownAs(t))
}

// changed returns the condition that the value is new, or differs from the old one.
func (w *writer) changed(v value) *jen.Statement {
	return w.file.Code("oldObj == nil || $", w.differs(v))
}

// direct reports whether == compares values of the type.
func direct(t *model.Type) bool {
	switch t.Form {
	case model.Basic, model.Pointer:
		return true
	case model.Array:
		return direct(t.Elem)
	case model.Struct:
		for _, f := range t.Fields {
			// A pointer inside would be compared by where it points to.
			if f.Type.Form == model.Pointer || !direct(f.Type) {
				return false
			}
		}
		return t.SchemaType == "" && t.Methods["Equal"] == nil && t.Methods["Cmp"] == nil
	}
	return false
}
