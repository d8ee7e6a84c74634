package validation

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan/check"
)

// elementUnions checks which of the elements that unions name the list in v has.
func (w *writer) elementUnions(v value, s *model.Schema) []jen.Code {
	var code []jen.Code
	unions, keys := check.ElementUnions(v.typ, v.name, s)
	for _, u := range unions {
		code = append(code, w.union(v, u, v.place.Value(), w.oldList(v), func(element *model.Field) jen.Code {
			return w.hasElement(v.typ, keys[element])
		}))
	}
	return code
}

// hasElement returns the function that reports whether a list has an element with these keys.
func (w *writer) hasElement(list *model.Type, keys []model.KeyValue) jen.Code {
	address, condition := "&", ""
	if list.Elem.Form == model.Pointer {
		address, condition = "", "item != nil && "
	}
	return w.file.Code("func(list $) bool {\nfor i := range list {\nif item := "+address+"list[i]; "+condition+"$ {\n"+
		"return true\n}\n}\nreturn false\n}", w.file.Type(list), w.selects(list.Elem.Pointee(), keys))
}

// selects returns the condition that item has these keys.
func (w *writer) selects(elem *model.Type, keys []model.KeyValue) jen.Code {
	all := jen.Null()
	for i, k := range keys {
		f := check.KeyField(elem, k.Key, 0)
		field := "item." + f.Name
		if f.Type.Form == model.Pointer {
			field = field + " != nil && *" + field
		}
		if i > 0 {
			field = " && " + field
		}
		all = w.file.Code("$"+field+" == $", all, literal(k.Value, f.Type.Pointee()))
	}
	return all
}
