package model

import "reflect"

// OpaqueJSON tells whether nothing is known of what the type's own MarshalJSON writes. Where the tags of a struct name
// all that is in it, it is taken to write that, as controller-gen and openapi-gen take it; but for messages of
// protobuf, whose tags are not what their JSON is.
func (t *Type) OpaqueJSON() bool {
	if t.Methods["MarshalJSON"] == nil {
		return false
	}
	return t.Form != Struct || t.Methods["ProtoReflect"] != nil || !t.tagged()
}

// tagged tells whether a struct has fields, and a tag for JSON at each of them.
func (t *Type) tagged() bool {
	for _, f := range t.Fields {
		if _, ok := reflect.StructTag(f.Tag).Lookup("json"); !ok && (f.Exported || f.Embedded) {
			return false
		}
	}
	return len(t.Fields) > 0
}
