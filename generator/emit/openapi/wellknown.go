package openapi

import "apigen.dev/generator/model"

// wellKnown returns the schema of a type whose JSON isn't what its Go fields say, or nil.
func wellKnown(t *model.Type) object {
	if t.Package == nil {
		return nil
	}
	switch t.Package.Path + "." + t.Name {
	case metaPath + ".Time":
		return object{"type": "string", "format": "date-time", "description": "Time is a moment, written as RFC 3339 in whole seconds."}
	case metaPath + ".MicroTime":
		return object{"type": "string", "format": "date-time", "description": "MicroTime is a moment, written as RFC 3339 in microseconds."}
	case metaPath + ".Duration":
		return object{"type": "string", "description": "Duration is a span of time as Go writes it: 1h30m."}
	case metaPath + ".FieldsV1":
		return object{"type": "object", "description": "FieldsV1 is a set of fields: a tree whose keys are f:<name> for a field, k:<keys> for an item of a list by its keys, v:<value> for one by its value, i:<index> for one by its place, and . for the node itself."}
	case metaPath + ".Patch":
		return object{"type": "object", "description": "Patch is the body of a patch, in the form that the content type names."}
	case resourcePath + ".Quantity":
		return object{"oneOf": []any{object{"type": "string"}, object{"type": "number"}}, "description": "Quantity is a number with a suffix: 100m, 1.5, 2Gi. The suffixes are n, u, m, k, M, G, T, P, E, and Ki, Mi, Gi, Ti, Pi, Ei."}
	case intstrPath + ".IntOrString":
		return object{"format": "int-or-string", "oneOf": []any{object{"type": "integer"}, object{"type": "string"}}, "description": "IntOrString is a whole number or a string."}
	case runtimePath + ".RawExtension":
		return object{"type": "object", "description": "RawExtension is an object of any kind."}
	case extensionsPath + "v1.JSON", extensionsPath + "v1beta1.JSON":
		return object{"x-kubernetes-preserve-unknown-fields": true, "description": "JSON is any JSON value."}
	}
	return nil
}

// inlineKnown returns the schema of a type of the standard library that is no schema of its own, or nil.
func inlineKnown(t *model.Type) object {
	if t.Package == nil {
		return nil
	}
	switch t.Package.Path + "." + t.Name {
	case "time.Time":
		return object{"type": "string", "format": "date-time"}
	case "encoding/json.RawMessage":
		return object{"x-kubernetes-preserve-unknown-fields": true}
	case "encoding/json.Number":
		return object{"type": "number"}
	}
	return nil
}

// basic is the schema of a predeclared type.
func basic(name string) object {
	switch name {
	case "bool":
		return object{"type": "boolean"}
	case "int64", "uint64", "uint32", "uint", "uintptr":
		return object{"type": "integer", "format": "int64"}
	case "int", "int32", "int16", "int8", "rune", "uint16", "uint8", "byte":
		return object{"type": "integer", "format": "int32"}
	case "float32":
		return object{"type": "number", "format": "float"}
	case "float64":
		return object{"type": "number", "format": "double"}
	}
	return object{"type": "string"}
}

// zero is the value of a field that clients may leave out though the server always writes one: what a document states as
// its default. Nil where there is none.
func zero(t *model.Type, omitEmpty bool) any {
	if wellKnown(t) != nil || inlineKnown(t) != nil || t.Methods["UnmarshalJSON"] != nil || t.Methods["MarshalJSON"] != nil || t.SchemaType != "" {
		return nil
	}
	switch t.Form {
	case model.Struct:
		return object{}
	case model.Basic:
		if omitEmpty {
			return nil
		}
		switch basic(t.Basic)["type"] {
		case "string":
			return ""
		case "boolean":
			return false
		default:
			return 0
		}
	}
	return nil
}
