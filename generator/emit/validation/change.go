package validation

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// change are the checks that a schema asks for of the change of a value. They run where there is an old value, and it is
// another.
func (w *writer) change(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	for i := range s.Rules {
		switch r := &s.Rules[i]; r.Check {
		case model.Immutable:
			code = append(code, w.check(v, "Immutable", v.place.Address(), jen.Nil()))
		case model.Update:
			if c := w.update(v, s, r); c != nil {
				code = append(code, c)
			}
		case model.Monotonic:
			if applies(r, v.typ) {
				code = append(code, w.check(v, "Monotonic", v.place.Address(), w.oldPointer(v)))
			}
		}
	}
	return code
}

// oldPointer is a pointer to the old value where oldObj is known not to be nil.
func (w *writer) oldPointer(v value) jen.Code {
	if v.pointer {
		return v.old.place("oldObj").Value()
	}
	return v.old.place("oldObj").Address()
}

// updates are what an update may not do, and the constants of it.
var updates = map[string]bool{"NoSet": true, "NoUnset": true, "NoModify": true, "NoAddItem": true, "NoRemoveItem": true}

// update checks what an update may not do.
func (w *writer) update(v value, s *model.Schema, r *model.Rule) jen.Code {
	var args []jen.Code
	for _, name := range r.Values {
		if updates[name] {
			args = append(args, w.file.Qual(validatePath, name))
		}
	}
	if len(args) == 0 {
		return nil
	}
	old := v.old.place("oldObj")
	switch {
	case v.pointer:
		return w.check(v, "UpdatePointer", v.place.Address(), old.Value(), args...)
	case v.typ.Form == model.Slice:
		match := w.match(v.typ, s)
		if match == nil {
			match = jen.Nil()
		}
		name := "ValSliceUpdate"
		if v.typ.Elem.Form == model.Pointer {
			name = "PtrSliceUpdate"
		}
		return w.check(v, name, v.place.Value(), old.Value(), append([]jen.Code{match}, args...)...)
	case v.typ.Form == model.Map:
		return w.check(v, "UpdateMap", v.place.Value(), old.Value(), args...)
	case v.typ.Form == model.Struct:
		return w.check(v, "UpdateStruct", v.place.Address(), old.Address(), args...)
	case comparable(v.typ):
		return w.check(v, "UpdateValueByCompare", v.place.Address(), old.Address(), args...)
	}
	return w.check(v, "UpdateValueByReflect", v.place.Address(), old.Address(), args...)
}
