package wiring

import "apigen.dev/generator/model"

// bringsProtobuf tells a type that has the methods of registry.Message, which gogo/protobuf generates: where one is
// missing, or has another signature, the type is JSON, YAML and CBOR alone.
func bringsProtobuf(t *model.Type) bool {
	bytes := func(t *model.Type) bool { return t.Form == model.Slice && isBasic(t.Elem, "uint8", "byte") }
	failure := func(t *model.Type) bool {
		return t.Form == model.Interface && t.Package == nil && (t.Name == "error" || len(t.InterfaceMethods) == 1 && t.InterfaceMethods[0] == "Error")
	}
	size, marshal, unmarshal := t.Methods["Size"], t.Methods["Marshal"], t.Methods["Unmarshal"]
	return takes(size) && gives(size, func(t *model.Type) bool { return isBasic(t, "int") }) &&
		takes(marshal) && gives(marshal, bytes, failure) &&
		takes(unmarshal, bytes) && gives(unmarshal, failure)
}

func isBasic(t *model.Type, names ...string) bool {
	if t.Form != model.Basic {
		return false
	}
	for _, name := range names {
		if t.Basic == name {
			return true
		}
	}
	return false
}

func takes(f *model.Func, wanted ...func(*model.Type) bool) bool {
	return f != nil && !f.Variadic && fit(f.Params, wanted)
}

func gives(f *model.Func, wanted ...func(*model.Type) bool) bool { return fit(f.Results, wanted) }

func fit(types []*model.Type, wanted []func(*model.Type) bool) bool {
	if len(types) != len(wanted) {
		return false
	}
	for i, t := range types {
		if !wanted[i](t) {
			return false
		}
	}
	return true
}
