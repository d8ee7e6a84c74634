package openapi

import (
	"strings"

	"apigen.dev/generator/model"
)

// mergeable tells whether clients can compute a strategic merge patch of a kind by its document. They walk along the schema wherever
// two objects differ, and kubectl apply breaks where it says nothing of what is inside of a value, or of an entry of a map.
// Such kinds are patched as custom resources are.
func mergeable(t *model.Type) bool { return walkable(t, map[*model.Type]bool{}) }

func walkable(t *model.Type, met map[*model.Type]bool) bool {
	t = t.Pointee()
	if met[t] {
		return true
	}
	met[t] = true
	switch {
	case described(t) != nil:
		return scalar(t)
	case t.Package != nil && t.OpaqueJSON():
		return false
	}
	switch t.Form {
	case model.Struct:
		for _, f := range t.Fields {
			if !f.Ignored && !walkableField(f, met) {
				return false
			}
		}
	case model.Map:
		return scalar(t.Elem.Pointee())
	case model.Interface:
		return false
	}
	return true
}

// walkableField is walkable for a field's value. Lists are replaced, unless it says that they are merged.
func walkableField(f *model.Field, met map[*model.Type]bool) bool {
	if f.Schema.Schemaless {
		return false
	}
	t := f.Type.Pointee()
	if t.Form != model.Slice && t.Form != model.Array {
		return walkable(t, met)
	}
	strategy := f.Schema.PatchStrategy
	return !strings.Contains(strategy, "merge") || walkable(t.Elem, met)
}

// described is the schema of a type that isn't made of its fields, or nil.
func described(t *model.Type) object {
	if s := wellKnown(t); s != nil {
		return s
	}
	if s := inlineKnown(t); s != nil {
		return s
	}
	if t.SchemaType != "" {
		return object{"type": t.SchemaType}
	}
	return nil
}

// isBytes tells lists of bytes, which JSON writes as a string.
func isBytes(t *model.Type) bool {
	return t.Form == model.Slice && t.Elem.Form == model.Basic && (t.Elem.Basic == "byte" || t.Elem.Basic == "uint8")
}

// scalar tells whether nothing is inside of a value of the type.
func scalar(t *model.Type) bool {
	if s := described(t); s != nil {
		return s["type"] != "object" && s["type"] != "array" && s["x-kubernetes-preserve-unknown-fields"] == nil
	}
	return !t.OpaqueJSON() && (t.Form == model.Basic || isBytes(t))
}
