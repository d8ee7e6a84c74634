package crd

import (
	"reflect"
	"slices"
)

// merge merges a schema into another, since a document without references needs everything in place: a struct gets the
// properties of the structs that it embeds, and a place the schema of its type. Where both have different values of a
// keyword, merge joins the values if it can, and otherwise puts both into allOf.
func merge(dst, src object) {
	for _, part := range parts(src) {
		merge(dst, part)
	}
	ofDst, ofSrc := object{}, object{}
	for key, value := range src {
		switch {
		case key == "allOf" || documentation[key]:
			continue
		case dst[key] == nil:
			dst[key] = clone(value)
		case key == "enum" || scalar[key] && reflect.DeepEqual(dst[key], value):
			continue // the nearer enumeration is the type's
		case join(dst, key, value):
		default:
			ofDst[key], ofSrc[key] = dst[key], clone(value)
			delete(dst, key)
		}
	}
	if len(ofDst) > 0 {
		both, _ := dst["allOf"].([]any)
		dst["allOf"] = append(both, ofDst, ofSrc)
	}
}

// documentation holds the keywords that are never joined: the place's own count, else the type's.
var documentation = map[string]bool{"description": true, "title": true, "example": true, "externalDocs": true}

// scalar are the keywords that are merged where both values are equal. Of bounds, controller-gen keeps both.
var scalar = map[string]bool{
	"type": true, "format": true, "pattern": true, "exclusiveMinimum": true, "exclusiveMaximum": true,
	"uniqueItems": true,
	"nullable":    true, "x-kubernetes-embedded-resource": true, "x-kubernetes-int-or-string": true,
	"minProperties": true, "maxProperties": true,
}

func join(dst object, key string, value any) bool {
	switch key {
	case "properties":
		properties := dst[key].(object)
		for name, s := range value.(object) {
			if properties[name] == nil {
				properties[name] = clone(s)
				continue
			}
			merge(properties[name].(object), s.(object))
		}
	case "required":
		all := slices.Concat(dst[key].([]string), value.([]string))
		slices.Sort(all)
		dst[key] = slices.Compact(all)
	case "type": // the type's, whatever the place says
	case "additionalProperties":
		merge(dst[key].(object), value.(object))
	case "x-kubernetes-preserve-unknown-fields", "x-kubernetes-map-type", "x-kubernetes-list-type",
		"x-kubernetes-list-map-keys":
		dst[key] = clone(value)
	case "x-kubernetes-validations":
		dst[key] = slices.Concat(clone(value).([]any), dst[key].([]any))
	default:
		return false
	}
	return true
}

func parts(s object) []object {
	var out []object
	all, _ := s["allOf"].([]any)
	for _, p := range all {
		out = append(out, p.(object))
	}
	return out
}

// clone copies objects and lists deeply. Other values are immutable.
func clone(v any) any {
	switch v := v.(type) {
	case object:
		out := make(object, len(v))
		for key, value := range v {
			out[key] = clone(value)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	}
	return v
}
