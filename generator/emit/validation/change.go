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

func (w *writer) update(v value, s *model.Schema, words []string) jen.Code {
	var args []jen.Code
	for _, name := range words {
		if updates[name] {
			args = append(args, w.file.Code("validate."+name))
		}
	}
	if len(args) == 0 {
		return nil
	}
	value, old, function := v.place.Address(), w.oldAddress, "UpdateValueByReflect"
	switch {
	case v.pointer:
		function = "UpdatePointer"
	case v.typ.Form == model.Slice:
		value, old, function = v.place.Value(), w.oldList, sliceOf(v.typ)+"Update"
		kind, keys := identity(v.typ, s)
		args = append([]jen.Code{orNil(w.match(v.typ, kind, keys))}, args...)
	case v.typ.Form == model.Map:
		value, old, function = v.place.Value(), w.oldList, "UpdateMap"
	case v.typ.Form == model.Struct:
		function = "UpdateStruct"
	case direct(v.typ):
		function = "UpdateValueByCompare"
	}
	return w.check(v, function, append([]jen.Code{value, old(v)}, args...)...)
}
