package model

// BringsProtobuf tells a type that declares the methods of the runtime's codec.Message, which gogo/protobuf generates:
// where one is missing, or has another signature, the type is JSON, YAML and CBOR alone.
func (t *Type) BringsProtobuf() bool {
	bytes := func(t *Type) bool { return t.Form == Slice && isBasic(t.Elem, "uint8", "byte") }
	failure := func(t *Type) bool {
		return t.Form == Interface && t.Package == nil && (t.Name == "error" || len(t.InterfaceMethods) == 1 &&
			t.InterfaceMethods[0] == "Error")
	}
	size, marshal, unmarshal := t.Methods["Size"], t.Methods["Marshal"], t.Methods["Unmarshal"]
	return takes(size) && gives(size, func(t *Type) bool { return isBasic(t, "int") }) &&
		takes(marshal) && gives(marshal, bytes, failure) &&
		takes(unmarshal, bytes) && gives(unmarshal, failure)
}

func isBasic(t *Type, names ...string) bool {
	if t.Form != Basic {
		return false
	}
	for _, name := range names {
		if t.Basic == name {
			return true
		}
	}
	return false
}

func takes(f *Func, wanted ...func(*Type) bool) bool {
	return f != nil && !f.Variadic && fit(f.Params, wanted)
}

func gives(f *Func, wanted ...func(*Type) bool) bool { return fit(f.Results, wanted) }

func fit(types []*Type, wanted []func(*Type) bool) bool {
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
