package judge

import (
	"cmp"
	"fmt"
	"slices"

	"apigen.dev/generator/internal/model"
)

// served reports what encoding/json does not write or read back in the kinds that servers serve, wherever the types
// come from.
func (r *checker) served(p *model.Program) {
	w := &wireWalk{checker: r, passed: map[visit]bool{}, told: map[model.Position]bool{}}
	for _, g := range p.Wired() {
		for _, x := range g.Resources {
			for _, v := range x.Served() {
				r.in = v.Type.Package
				w.value(v.Type, place{pos: v.Type.Pos, name: v.Type.Name}, true)
			}
		}
	}
}

// wireWalk visits all values of kinds.
type wireWalk struct {
	*checker
	passed map[visit]bool
	// told are the positions of findings: one field has one.
	told map[model.Position]bool
}

type visit struct {
	of *model.Type
	// addressable: encoding/json can call the methods of a pointer to the value.
	addressable bool
}

// place is the field of the user's own that leads to a value.
type place struct {
	pos  model.Position
	name string
}

func (w *wireWalk) faultf(at place, format string, args ...any) {
	if !w.told[at.pos] {
		w.told[at.pos] = true
		w.checker.faultf(at.pos, format, args...)
	}
}

func (w *wireWalk) value(t *model.Type, at place, addressable bool) {
	if t == nil {
		return
	}
	if t.Is("encoding/json", "Number") {
		w.faultf(at, "%s holds a json.Number, whose schema is that of a number, while field ownership and patches see "+
			"a string: use resource.Quantity, an int64, or a string", at.name)
		return
	}
	if t.Form == model.Pointer && t.Elem != nil && t.Elem.Form == model.Pointer {
		w.faultf(at, "%s holds a pointer to a pointer, which is no other value on the wire than one pointer: write *%s",
			at.name, model.TypeText(t.Pointee()))
		return
	}
	if t.Form != model.Pointer && w.writesItself(t, at, addressable) || w.passed[visit{t, addressable}] {
		return
	}
	w.passed[visit{t, addressable}] = true
	switch t.Form {
	case model.Pointer, model.Slice:
		w.value(t.Elem, at, true)
	case model.Array:
		w.array(t, at)
	case model.Map:
		w.value(t.Elem, at, false)
	case model.Struct:
		w.fields(t, at, addressable)
	}
}

// array reports an array. encoding/json reads a list of another length into it, and its definition has no length.
func (w *wireWalk) array(t *model.Type, at place) {
	bounds := fmt.Sprintf(", with +kubebuilder:validation:MinItems=%d and MaxItems=%d", t.Len, t.Len)
	if t.Elem.Bits() == -8 {
		bounds = ", which is text in base64"
	}
	w.faultf(at, "%s holds an array, which encoding/json fills up or cuts where a client sends another number of "+
		"elements: write []%s%s", at.name, model.TypeText(t.Elem), bounds)
}

func (w *wireWalk) fields(t *model.Type, at place, addressable bool) {
	for _, f := range t.Fields {
		if f.Ignored {
			continue
		}
		inner := at
		if t.Package == nil || t.Package.Own() {
			inner = place{f.Pos, fieldOf(t, f)}
		}
		if f.Embedded && !f.Exported && f.Type.Form == model.Pointer {
			w.faultf(inner, "%s embeds a pointer to %s, which encoding/json can't set, since that is unexported: "+
				"embed the struct itself, or export its name", cmp.Or(t.Name, "the struct"), f.Name)
			continue
		}
		if f.Inline && embeds(f.Type.Pointee(), t, map[*model.Type]bool{}) {
			w.faultf(inner, "%s embeds itself, so that its fields would have no end: give the field a name on the "+
				"wire, `json:\"parent,omitempty\"`", cmp.Or(t.Name, "the struct"))
			continue
		}
		if f.Type.Is(unstructured, "Unstructured") && (!f.OmitEmpty || f.WritesZeroStruct()) {
			w.faultf(inner, "%s holds an Unstructured, which is null where nobody sets it, and can't be read then: "+
				"write *unstructured.Unstructured", inner.name)
			continue
		}
		w.value(f.Type, inner, addressable)
	}
}

const unstructured = "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// embeds reports whether a struct is another one, or embeds it.
func embeds(t, other *model.Type, seen map[*model.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	return t == other || slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
		return f.Inline && !f.Ignored && embeds(f.Type.Pointee(), other, seen)
	})
}

// writesItself reports whether values of a type have methods that write their JSON, and reports methods that
// encoding/json does not call, or calls for a whole struct in place of a part.
func (w *wireWalk) writesItself(t *model.Type, at place, addressable bool) bool {
	write, by := jsonMethod(t, "MarshalJSON", "MarshalText")
	read, readBy := jsonMethod(t, "UnmarshalJSON", "UnmarshalText")
	switch {
	case write != nil && by != nil && hasFieldsBeside(t, by):
		w.promotedMethod(t, by, write.Name, at)
	case read != nil && readBy != nil && hasFieldsBeside(t, readBy):
		w.promotedMethod(t, readBy, read.Name, at)
	case write == nil:
		return false
	case write.PointerReceiver && !addressable && (by == nil || by.Type.Form != model.Pointer):
		w.faultf(at, "%s holds values of %s in a map, and encoding/json doesn't call the method %s of a pointer to a "+
			"value of a map: write `func (in %s) %s`, or make the map one of pointers",
			at.name, model.TypeText(t), write.Name, t.Name, write.Name)
	case read == nil && write.Name == "MarshalText" && !t.IsString():
		w.faultf(at, "%s holds values of %s, which MarshalText writes as strings, and encoding/json can't read "+
			"strings into them: write `func (in *%s) UnmarshalText(text []byte) error`",
			at.name, model.TypeText(t), t.Name)
	}
	return true
}

// jsonMethod returns the first of the methods that a type has: encoding/json calls those for JSON before those for
// text.
func jsonMethod(t *model.Type, names ...string) (method *model.Func, by *model.Field) {
	for _, name := range names {
		if method, by = t.Method(name); method != nil {
			break
		}
	}
	return method, by
}

func hasFieldsBeside(t *model.Type, by *model.Field) bool {
	return slices.ContainsFunc(t.Fields, func(f *model.Field) bool { return f != by && !f.Ignored })
}

func (w *wireWalk) promotedMethod(t *model.Type, by *model.Field, name string, at place) {
	if t.Package == nil || t.Package.Own() {
		at = place{pos: by.Pos}
	}
	w.faultf(at, "%s gets the method %s of %s, which it embeds: encoding/json calls it for the whole struct, so that "+
		"the other fields are never on the wire: give the field a name in Go, or write methods MarshalJSON and "+
		"UnmarshalJSON of %s", cmp.Or(t.Name, "the struct"), name, model.TypeText(by.Type.Pointee()),
		cmp.Or(t.Name, "a named struct"))
}
