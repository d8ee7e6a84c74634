package document

import (
	"strings"

	"apigen.dev/generator/internal/schema"
)

// mergeable reports whether clients can compute a strategic merge patch of a kind by its document. They walk the schema
// wherever two objects differ, and kubectl apply fails where the schema does not describe the inside of a value, or of
// an entry of a map. Clients patch such kinds as they do custom resources.
func mergeable(t *schema.Type) bool { return walkable(t, map[*schema.Type]bool{}) }

func walkable(t *schema.Type, passed map[*schema.Type]bool) bool {
	if passed[t] {
		return true
	}
	passed[t] = true
	switch {
	case !t.Structural:
		return scalar(t)
	case t.JSON == schema.Pointer:
		return walkable(t.Elem, passed)
	case t.JSON == schema.Map:
		return scalar(t.Elem)
	case t.JSON == schema.Any:
		return false
	}
	for _, f := range t.Fields {
		if !walkableField(f, passed) {
			return false
		}
	}
	return true
}

// walkableField is walkable for a field's value. Clients replace lists, unless the field's strategy merges them.
func walkableField(f *schema.Field, passed map[*schema.Type]bool) bool {
	switch {
	case f.Go.Schema.Schemaless:
		return false
	case f.Type.JSON == schema.List:
		return !strings.Contains(f.Go.Schema.PatchStrategy, "merge") || walkable(f.Type.Elem, passed)
	}
	return walkable(f.Type, passed)
}

// scalar reports whether values of the type have no inside.
func scalar(t *schema.Type) bool {
	switch t.JSON {
	case schema.Object, schema.List, schema.Map, schema.Any:
		return false
	case schema.Pointer:
		return scalar(t.Elem)
	}
	return true
}
