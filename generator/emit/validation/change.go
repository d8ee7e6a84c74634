package validation

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
)

// change are the checks that a schema asks for of the change of a value, before it matters whether the value is set.
// They run where the value is not known to be what it was: what came on an update counts as changed, too.
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

// updates are what an update may not do, and the constants of it.
var updates = map[string]bool{"NoSet": true, "NoUnset": true, "NoModify": true, "NoAddItem": true, "NoRemoveItem": true}

// update checks what an update may not do, nil where it may do everything.
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
