package validation

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
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
	// label names variables that the value needs, and name is the field's on the wire, where it is one.
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

// oldAddress returns a pointer to the old value, nil where there is none.
func (w *writer) oldAddress(v value) jen.Code {
	if v.self {
		return jen.Id("oldObj")
	}
	if v.pointer {
		return w.oldField(v, jen.Op("*").Add(w.file.Type(v.typ)), v.old.place("old").Value())
	}
	return w.oldField(v, jen.Op("*").Add(w.file.Type(v.typ)), v.old.place("old").Address())
}

// oldList returns the old list or map.
func (w *writer) oldList(v value) jen.Code {
	if v.pointer {
		return jen.Nil()
	}
	return w.oldField(v, w.file.Type(v.typ), v.old.place("old").Value())
}

func (w *writer) oldField(v value, result, value jen.Code) jen.Code {
	return w.file.Qual(safePath, "Field").Call(jen.Id("oldObj"),
		expression(jen.Params(jen.Id("old").Op("*").Add(w.file.Type(v.old.owner))).Add(result), value))
}

// expression returns a function on one line that returns the value of an expression.
func expression(signature, value jen.Code) *jen.Statement {
	return jen.Func().Add(signature).Custom(jen.Options{Open: "{ ", Close: " }"}, jen.Return(value))
}

// differs returns the condition that the value differs from the old one, given that oldObj isn't nil.
func (w *writer) differs(v value) *jen.Statement { return w.compared(v, "!=", jen.Op("!")) }

// equals returns the opposite of differs.
func (w *writer) equals(v value) *jen.Statement { return w.compared(v, "==", jen.Null()) }

// compared compares the value with the old one: by an operator, or by the result of a function behind a prefix.
func (w *writer) compared(v value, op string, prefix *jen.Statement) *jen.Statement {
	old := v.old.place("oldObj")
	switch {
	case !v.pointer && direct(v.typ):
		return v.place.Value().Op(op).Add(old.Value())
	case direct(v.typ):
		return prefix.Add(w.file.Qual(validatePath, "DirectEqual").Call(v.place.Address(), old.Value()))
	case v.pointer:
		return prefix.Add(w.same(v.typ, v.place.Address(), old.Value()))
	case v.self:
		return prefix.Add(w.same(v.typ, v.place.Address(), old.Address()))
	}
	return prefix.Add(w.same(v.typ, v.place.Value(), old.Value()))
}

// same returns the condition that two values of a type are equal. apimachinery's comparison panics at unexported
// fields; values that have some are compared by their JSON.
func (w *writer) same(t *model.Type, a, b jen.Code) *jen.Statement {
	if hasUnexported(t, map[*model.Type]bool{}) {
		return w.common(sameJSON).Call(a, b)
	}
	return w.file.Qual(equalityPath, "Semantic").Dot("DeepEqual").Call(a, b)
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
	return jen.Id("oldObj").Op("==").Nil().Op("||").Add(w.differs(v))
}
