package validation

import (
	"slices"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/schema"
)

// unique returns the check that the elements of a list differ: as a whole, or by their keys.
func (w *writer) unique(v value, s *model.Schema, r *model.Rule) []jen.Code {
	keys := mapKeys(v.typ, s)
	match := w.match(v.typ, r.Text, keys)
	if match == nil {
		return nil
	}
	doubles := w.checked(v, sliceOf(v.typ)+"Unique", v.place.Value(), jen.Nil(), match)
	if r.Text == "map" && !r.Declarative {
		doubles = w.byKeys(v.typ, keys, doubles)
	}
	if sliceOf(v.typ) == ofPointers {
		return []jen.Code{w.noNils(v), w.add("$", doubles)}
	}
	return []jen.Code{w.add("$", doubles)}
}

// How apimachinery's functions of slices begin: those of values, and those of pointers.
const ofValues, ofPointers = "ValSlice", "PtrSlice"

func sliceOf(list *model.Type) string {
	if list.Elem.Form == model.Pointer && list.Elem.Name == "" {
		return ofPointers
	}
	return ofValues
}

// byKeys replaces the value in errors about duplicate elements by their keys, as in errors of a custom resource.
func (w *writer) byKeys(list *model.Type, keys []string, errs jen.Code) *jen.Statement {
	values := jen.Dict{}
	for _, key := range keys {
		values[jen.Lit(key)] = jen.Id("e").Dot(check.KeyField(list.Elem.Pointee(), key, 0).Name)
	}
	return w.file.Code(w.common(byKeys)+"($, func(e $) map[string]any { return map[string]any$ })", errs,
		w.file.Type(list.Elem), jen.Values(values))
}

func (w *writer) noNils(v value) jen.Code {
	return w.check(v, "PtrSliceNoNils", v.place.Value(), jen.Nil())
}

// identity returns how the elements of a list are told apart: a set by their values, a map by keys. The schema of the
// place says so, or that of the list's type; the kind is empty where neither does.
func identity(list *model.Type, s *model.Schema) (kind string, keys []string) {
	for _, of := range []*model.Schema{s, schema.Enforced(list)} {
		if r := of.Rule(model.Unique); r != nil {
			return r.Text, mapKeys(list, of)
		}
		if of.ListType != "" {
			return of.ListType, mapKeys(list, of)
		}
	}
	return "", nil
}

func orNil(code jen.Code) jen.Code {
	if code == nil {
		return jen.Nil()
	}
	return code
}

// match returns a function that reports whether two elements of a list have the same identity, or nil where elements
// have none.
func (w *writer) match(list *model.Type, kind string, keys []string) jen.Code {
	elem := list.Elem.Pointee()
	switch kind {
	case "set":
		return w.comparison(elem)
	case "map":
		same := jen.Null()
		for i, key := range keys {
			f := check.KeyField(elem, key, 0)
			if f == nil {
				return nil
			}
			text := "a." + f.Name + " == b." + f.Name
			if f.Type.Form == model.Pointer {
				text = "validate.DirectEqual(a." + f.Name + ", b." + f.Name + ")"
			}
			if i > 0 {
				text = " && " + text
			}
			same = w.file.Code("$"+text, same)
		}
		if len(keys) > 0 {
			return w.file.Code("func(a, b *$) bool { return $ }", w.file.Type(elem), same)
		}
	}
	return nil
}

func mapKeys(list *model.Type, s *model.Schema) []string {
	if len(s.ListMapKeys) > 0 {
		return s.ListMapKeys
	}
	return schema.Enforced(list).ListMapKeys
}

func (w *writer) comparison(t *model.Type) jen.Code {
	if direct(t) {
		return w.file.Code("validate.DirectEqual")
	}
	if hasUnexported(t, map[*model.Type]bool{}) {
		return jen.Id(w.common(sameJSON))
	}
	return w.file.Code("validate.SemanticDeepEqual")
}

// elements returns the checks of the elements of a list or a map: those of a schema, and, where the list has no
// function of its own for it, those of the elements' type.
func (w *writer) elements(v value, s *model.Schema) []jen.Code {
	deep := (v.typ.Name == "" || v.self) && !s.HidesType()
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

// validator returns the function that checks an element: its type's, or one of its own. It returns nil if there is
// nothing to check.
func (w *writer) validator(t *model.Type, s *model.Schema, deep bool, label string) jen.Code {
	if s != nil && s.HidesType() {
		deep = false
	}
	effective := w.checks.Effective(t, s)
	switch {
	case !effective && !deep:
		return nil
	case !effective && t.Name != "":
		if f := w.functionOf(t); f != nil {
			return f
		}
		return nil
	case !effective && (t.Form == model.Basic || !w.checks.Reaches(t)):
		return nil
	case !effective:
		s = nil
	}
	return w.file.Code("func$", w.checker(t, w.body(t, s, deep, label)))
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
	if unique := s.Rule(model.Unique); kind == ofPointers && (unique == nil || !w.checks.Applies(unique, v.typ)) {
		code = append(code, w.noNils(v))
	}
	identified, keys := identity(v.typ, s)
	match, old, equal := w.match(v.typ, identified, keys), jen.Code(jen.Nil()), jen.Code(jen.Nil())
	if match != nil {
		old = w.oldList(v)
		if identified == "map" { // else, elements that match are equal
			equal = w.comparison(elem)
		}
	}
	return append(code, w.check(v, "Each"+kind+"Val", v.place.Value(), old, orNil(match), equal, validator))
}

func (w *writer) selected(v value, s *model.Schema) []jen.Code {
	kind, elem := sliceOf(v.typ), v.typ.Elem
	if kind == ofPointers {
		elem = elem.Elem
	}
	var code []jen.Code
	for _, p := range s.Elements {
		validator := w.validator(elem, p.Schema, false, v.label+"Item")
		if validator == nil || !check.Selects(elem, p.Keys) {
			continue
		}
		chosen := w.file.Code("func(item *$) bool { return $ }", w.file.Type(elem), w.selects(elem, p.Keys))
		code = append(code,
			w.check(v, kind+"Item", v.place.Value(), w.oldList(v), chosen, w.comparison(elem), validator))
	}
	return code
}

func (w *writer) entries(v value, s *model.Schema, deep bool) []jen.Code {
	if !model.IsString(v.typ.Key) {
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

func (w *writer) pointers(v value, deep bool) []jen.Code {
	f := w.functionOf(v.typ.Elem.Elem)
	if !deep || f == nil {
		return nil
	}
	check := w.add("$(ctx, op, "+v.path+".Key(string(key)), val, $[key])", f, w.oldList(v))
	return []jen.Code{w.file.Code("for _, key := range slices.Sorted(maps.Keys($)) {\n$\n}", v.place.Value(),
		w.ifThen(w.file.Code("val := $[key]; val != nil", v.place.Value()), check))}
}
