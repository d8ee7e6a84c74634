package validation

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// change returns the checks of a change of a value, whether or not the value is set. They run where the value may
// differ from the old one: a field that an update adds counts as changed.
func (w *writer) change(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	var words []string
	for _, r := range s.Rules {
		switch r.Check {
		case model.Immutable:
			code = append(code, w.check(v, "Immutable", v.place.Address(), jen.Nil()))
		case model.Update:
			words = append(words, r.Values...)
		}
	}
	if c := w.update(v, s, words); c != nil {
		code = append(code, c)
	}
	return code
}

// updates are the restrictions on updates, which apimachinery's constants name.
var updates = map[string]bool{"NoSet": true, "NoUnset": true, "NoModify": true, "NoAddItem": true, "NoRemoveItem": true}

// update returns the check of restrictions on updates, or nil where there are none.
func (w *writer) update(v value, s *model.Schema, words []string) jen.Code {
	var args []jen.Code
	for _, name := range words {
		if updates[name] {
			args = append(args, w.file.Qual(validatePath, name))
		}
	}
	if len(args) == 0 {
		return nil
	}
	address := w.oldAddress(v)
	switch {
	case v.pointer:
		return w.check(v, "UpdatePointer", v.place.Address(), address, args...)
	case v.typ.Form == model.Slice:
		args = append([]jen.Code{orNil(w.match(v.typ, s))}, args...)
		return w.check(v, sliceOf(v.typ)+"Update", v.place.Value(), w.oldList(v), args...)
	case v.typ.Form == model.Map:
		return w.check(v, "UpdateMap", v.place.Value(), w.oldList(v), args...)
	case v.typ.Form == model.Struct:
		return w.check(v, "UpdateStruct", v.place.Address(), address, args...)
	case direct(v.typ):
		return w.check(v, "UpdateValueByCompare", v.place.Address(), address, args...)
	}
	return w.check(v, "UpdateValueByReflect", v.place.Address(), address, args...)
}
