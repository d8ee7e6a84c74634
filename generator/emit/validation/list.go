package validation

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// unique returns the check that the elements of a list differ: as a whole, or by their keys.
func (w *writer) unique(v value, s *model.Schema, r *model.Rule) []jen.Code {
	match := w.matchBy(v.typ, s, r.Text)
	if match == nil {
		return nil
	}
	doubles := w.checked(v, sliceOf(v.typ)+"Unique", v.place.Value(), jen.Nil(), match)
	if r.Text == "map" && !r.Declarative {
		doubles = w.byKeys(v.typ, s, doubles)
	}
	if sliceOf(v.typ) == ofPointers {
		return []jen.Code{w.noNils(v), w.add(doubles)}
	}
	return []jen.Code{w.add(doubles)}
}

// How apimachinery's functions of slices begin: those of values, and those of pointers.
const ofValues, ofPointers = "ValSlice", "PtrSlice"

// sliceOf begins the name of apimachinery's functions of a slice.
func sliceOf(list *model.Type) string {
	if list.Elem.Form == model.Pointer && list.Elem.Name == "" {
		return ofPointers
	}
	return ofValues
}

// byKeys replaces the value in errors about duplicate elements by their keys, as in errors of a custom resource.
func (w *writer) byKeys(list *model.Type, s *model.Schema, errs jen.Code) *jen.Statement {
	keys := jen.Dict{}
	for _, key := range mapKeys(list, s) {
		keys[jen.Lit(key)] = jen.Id("e").Dot(keyField(list.Elem.Pointee(), key, 0).Name)
	}
	of := jen.Params(jen.Id("e").Add(w.file.Type(list.Elem))).Map(jen.String()).Any()
	return w.common(byKeys).Call(errs, expression(of, jen.Map(jen.String()).Any().Values(keys)))
}

// noNils returns the check that no element of a list of pointers is null.
func (w *writer) noNils(v value) jen.Code {
	return w.check(v, "PtrSliceNoNils", v.place.Value(), jen.Nil())
}

// match returns a function that reports whether two elements of a list have the same identity, or nil where elements
// have none.
func (w *writer) match(list *model.Type, s *model.Schema) jen.Code {
	listType, of := listTypeOf(list, s)
	return w.matchBy(list, of, listType)
}

// listTypeOf returns the type of a list, set or map, and the schema that says so: that of the place or that of the
// list. It is empty where neither does.
func listTypeOf(list *model.Type, s *model.Schema) (string, *model.Schema) {
	for _, of := range []*model.Schema{s, schema.Enforced(list)} {
		if r := of.Rule(model.Unique); r != nil {
			return r.Text, of
		}
		if of.ListType != "" {
			return of.ListType, of
		}
	}
	return "", s
}

// orNil is code, or nil in the emitted code where there is none.
func orNil(code jen.Code) jen.Code {
	if code == nil {
		return jen.Nil()
	}
	return code
}

// matchBy is match for a list of a type: set or map.
func (w *writer) matchBy(list *model.Type, s *model.Schema, kind string) jen.Code {
	elem := list.Elem.Pointee()
	switch kind {
	case "set":
		return w.comparison(elem)
	case "map":
		keys := mapKeys(list, s)
		same := jen.Null()
		for i, key := range keys {
			f := keyField(elem, key, 0)
			if f == nil {
				return nil
			}
			if i > 0 {
				same.Op("&&")
			}
			if f.Type.Form == model.Pointer {
				same.Add(w.file.Qual(validatePath, "DirectEqual").Call(jen.Id("a").Dot(f.Name),
					jen.Id("b").Dot(f.Name)))
			} else {
				same.Id("a").Dot(f.Name).Op("==").Id("b").Dot(f.Name)
			}
		}
		if len(keys) == 0 {
			return nil
		}
		return expression(jen.Params(jen.List(jen.Id("a"), jen.Id("b")).Op("*").Add(w.file.Type(elem))).Bool(), same)
	}
	return nil
}

// mapKeys returns the JSON names of the fields that identify the elements of a list.
func mapKeys(list *model.Type, s *model.Schema) []string {
	if len(s.ListMapKeys) > 0 {
		return s.ListMapKeys
	}
	return schema.Enforced(list).ListMapKeys
}

// comparison returns the function that compares two values of a type.
func (w *writer) comparison(t *model.Type) jen.Code {
	if direct(t) {
		return w.file.Qual(validatePath, "DirectEqual")
	}
	if hasUnexported(t, map[*model.Type]bool{}) {
		return w.common(sameJSON)
	}
	return w.file.Qual(validatePath, "SemanticDeepEqual")
}

// keyField returns the field of that JSON name, also one of an embedded struct.
func keyField(t *model.Type, key string, depth int) *model.Field {
	if f := fieldByJSON(t, key); f != nil {
		if at := f.Type.Pointee(); at != nil && at.Form == model.Basic {
			return f
		}
		return nil
	}
	if t.Form != model.Struct || depth > 4 {
		return nil
	}
	for _, f := range t.Fields {
		if f.Inline && f.Type.Form == model.Struct {
			if inner := keyField(f.Type, key, depth+1); inner != nil {
				return inner
			}
		}
	}
	return nil
}

// elements returns the checks of the elements of a list or a map: those of a schema, and, where the list has no
// function of its own for it, those of the elements' type.
func (w *writer) elements(v value, s *model.Schema) []jen.Code {
	deep := (v.typ.Name == "" || v.self) && !s.Opaque
	switch v.typ.Form {
	case model.Slice:
		if v.typ.IsBytes() {
			return nil
		}
		return slices.Concat(w.items(v, s, deep), w.selected(v, s), w.elementUnions(v, s))
	case model.Map:
		return w.entries(v, s, deep)
	}
	return nil
}

// validator returns the function that checks an element: its type's, or one of its own. It returns nil where there is
// nothing to check.
func (w *writer) validator(t *model.Type, s *model.Schema, deep bool, label string) jen.Code {
	if s != nil && s.Opaque {
		deep = false
	}
	effective := w.graph.effective(t, s)
	switch {
	case !effective && !deep:
		return nil
	case !effective && t.Name != "":
		if f := w.functionOf(t); f != nil {
			return f
		}
		return nil
	case !effective && (t.Form == model.Basic || !w.graph.reaches(t)):
		return nil
	case !effective:
		s = nil
	}
	return jen.Func().Add(w.signature(t)).Block(w.body(t, s, deep, label)...)
}

func (w *writer) items(v value, s *model.Schema, deep bool) []jen.Code {
	var code []jen.Code
	kind, elem := sliceOf(v.typ), v.typ.Elem
	if kind == ofPointers {
		elem = elem.Elem
	}
	if elem.Form == model.Pointer {
		return nil
	}
	validator := w.validator(elem, s.Items, deep, v.label+"Item")
	if validator == nil {
		return nil
	}
	if unique := s.Rule(model.Unique); kind == ofPointers && (unique == nil || !w.graph.applies(unique, v.typ)) {
		code = append(code, w.noNils(v))
	}
	match, old, equal := w.match(v.typ, s), jen.Code(jen.Nil()), jen.Code(jen.Nil())
	if match != nil {
		old = w.oldList(v)
		if keyed(v.typ, s) {
			equal = w.comparison(elem)
		}
	}
	return append(code, w.check(v, "Each"+kind+"Val", v.place.Value(), old, orNil(match), equal, validator))
}

// keyed reports whether keys identify the elements, rather than their whole values.
func keyed(list *model.Type, s *model.Schema) bool {
	listType, _ := listTypeOf(list, s)
	return listType == "map"
}

// selected returns the checks of single elements of a list.
func (w *writer) selected(v value, s *model.Schema) []jen.Code {
	kind, elem := sliceOf(v.typ), v.typ.Elem
	if kind == ofPointers {
		elem = elem.Elem
	}
	var code []jen.Code
	for _, p := range s.Elements {
		condition := selects(elem, p.Keys)
		validator := w.validator(elem, p.Schema, false, v.label+"Item")
		if condition == nil || validator == nil {
			continue
		}
		chosen := expression(jen.Params(jen.Id("item").Op("*").Add(w.file.Type(elem))).Bool(), condition)
		check := w.check(v, kind+"Item", v.place.Value(), w.oldList(v), chosen, w.comparison(elem), validator)
		code = append(code, check)
	}
	return code
}

// selects returns the condition that item has these keys, or nil where it has no such fields.
func selects(elem *model.Type, keys []model.KeyValue) *jen.Statement {
	var all *jen.Statement
	for _, k := range keys {
		f := keyField(elem, k.Key, 0)
		if f == nil {
			return nil
		}
		if all == nil {
			all = jen.Null()
		} else {
			all.Op("&&")
		}
		if f.Type.Form == model.Pointer {
			all.Id("item").Dot(f.Name).Op("!=").Nil().Op("&&").Op("*")
		}
		all.Id("item").Dot(f.Name).Op("==").Add(literal(k.Value, f.Type.Pointee()))
	}
	return all
}

// entries returns the checks of the keys and the values of a map.
func (w *writer) entries(v value, s *model.Schema, deep bool) []jen.Code {
	if !isString(v.typ.Key) {
		return nil
	}
	var code []jen.Code
	if validator := w.validator(v.typ.Key, s.Keys, deep, v.label+"Key"); validator != nil {
		code = append(code, w.checkEntries(v, "EachMapKey", validator))
	}
	if v.typ.Elem.Form == model.Pointer {
		return append(code, w.pointers(v, deep)...)
	}
	if validator := w.validator(v.typ.Elem, s.Items, deep, v.label+"Value"); validator != nil {
		code = append(code, w.checkEntries(v, "EachMapVal", w.comparison(v.typ.Elem), validator))
	}
	return code
}

// pointers returns the checks of the values of a map of pointers.
func (w *writer) pointers(v value, deep bool) []jen.Code {
	f := w.functionOf(v.typ.Elem.Elem)
	if !deep || f == nil {
		return nil
	}
	at := jen.Id(v.path).Dot("Key").Call(jen.String().Call(jen.Id("key")))
	sorted := w.file.Qual("slices", "Sorted").Call(w.file.Qual("maps", "Keys").Call(v.place.Value()))
	return []jen.Code{jen.For(jen.List(jen.Id("_"), jen.Id("key")).Op(":=").Range().Add(sorted)).Block(
		jen.If(jen.Id("val").Op(":=").Add(v.place.Value()).Index(jen.Id("key")), jen.Id("val").Op("!=").Nil()).Block(
			w.add(f.Call(jen.Id("ctx"), jen.Id("op"), at, jen.Id("val"), jen.Add(w.oldList(v)).Index(jen.Id("key"))))))}
}
