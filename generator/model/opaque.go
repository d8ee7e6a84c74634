package model

import "reflect"

// OpaqueJSON reports whether the output of the type's own MarshalJSON is unknown. apigen assumes that a struct with a
// tag at each field writes those fields, as controller-gen and openapi-gen do. It doesn't assume so for messages of
// protobuf, whose JSON differs from their tags.
func (t *Type) OpaqueJSON() bool {
	if t.Methods["MarshalJSON"] == nil {
		return false
	}
	return t.Form != Struct || t.Methods["ProtoReflect"] != nil || !t.tagged()
}

// tagged reports whether a struct has fields, and a tag for JSON at each of them.
func (t *Type) tagged() bool {
	for _, f := range t.Fields {
		if _, ok := reflect.StructTag(f.Tag).Lookup("json"); !ok && (f.Exported || f.Embedded) {
			return false
		}
	}
	return len(t.Fields) > 0
}
