package model

import "slices"

// BringsProtobuf tells a type that declares the methods of the runtime's codec.Message, which gogo/protobuf generates:
// where one is missing, or has another signature, the type is JSON, YAML and CBOR alone.
func (t *Type) BringsProtobuf() bool {
	integer := func(t *Type) bool { return t.Form == Basic && t.Basic == "int" }
	failure := func(t *Type) bool {
		return t.Form == Interface && t.Package == nil && (t.Name == "error" || len(t.InterfaceMethods) == 1 &&
			t.InterfaceMethods[0] == "Error")
	}
	size, marshal, unmarshal := t.Methods["Size"], t.Methods["Marshal"], t.Methods["Unmarshal"]
	return takes(size) && gives(size, integer) &&
		takes(marshal) && gives(marshal, (*Type).IsBytes, failure) &&
		takes(unmarshal, (*Type).IsBytes) && gives(unmarshal, failure)
}

func takes(f *Func, wanted ...func(*Type) bool) bool {
	return f != nil && !f.Variadic && fit(f.Params, wanted)
}

func gives(f *Func, wanted ...func(*Type) bool) bool { return fit(f.Results, wanted) }

func fit(types []*Type, wanted []func(*Type) bool) bool {
	return slices.EqualFunc(types, wanted, func(t *Type, fits func(*Type) bool) bool { return fits(t) })
}
