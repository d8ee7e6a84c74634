package cel

import (
	"strconv"
	"strings"
)

// ratchet is the change that an update makes at one place: a value, the old value that corresponds to it, and the
// nearest place above that has an old value. Where nothing changed there, an update may keep faults, since the stored
// value was accepted once.
type ratchet struct {
	// correlated says that there is an old value. schema, now and old belong to this place, or to the nearest one
	// above.
	correlated bool
	schema     *Schema
	now, old   any
}

func (r ratchet) forgives() bool {
	return r.schema != nil && unchanged(r.schema, r.now, r.old)
}

// field returns the ratchet of a member of an object or a map.
func (r ratchet) field(name string, s *Schema, root bool) ratchet {
	if !r.correlated {
		return r
	}
	if root && (name == "apiVersion" || name == "kind") {
		return ratchet{} // old and new are always read in the same version
	}
	if old, ok := r.old.(map[string]any); ok {
		if o, ok := old[name]; ok {
			now, _ := r.now.(map[string]any)
			return ratchet{correlated: true, schema: s, now: now[name], old: o}
		}
	}
	r.correlated = false
	return r
}

// element returns the ratchet of an element; old is the old element with its key, or nil.
func (r ratchet) element(now, old any, s *Schema) ratchet {
	if r.correlated && old != nil {
		return ratchet{correlated: true, schema: s, now: now, old: old}
	}
	r.correlated = false
	return r
}

// unchanged compares values of a schema. One that the schema doesn't describe counts as changed.
func unchanged(s *Schema, now, old any) bool {
	switch now := now.(type) {
	case map[string]any:
		old, ok := old.(map[string]any)
		if !ok || len(now) != len(old) {
			return false
		}
		for name, v := range now {
			member := s.Properties[name]
			if member == nil {
				member = s.Values
			}
			o, ok := old[name]
			if !ok || member == nil || !unchanged(member, v, o) {
				return false
			}
		}
		return true
	case []any:
		old, ok := old.([]any)
		if !ok || len(now) != len(old) {
			return false
		}
		if s.ListType != "map" || s.Items == nil {
			return same(now, old)
		}
		by := newIndex(s, old)
		for _, v := range now {
			if o := by.find(v); o == nil || !unchanged(s.Items, v, o) {
				return false
			}
		}
		return true
	}
	return same(now, old)
}

func same(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if o, ok := b[k]; !ok || !same(v, o) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !same(a[i], b[i]) {
				return false
			}
		}
		return true
	}
	switch b.(type) {
	case map[string]any, []any:
		return false
	}
	return a == b
}

// index finds the elements of a list by their keys.
type index struct {
	keys    []string
	entries map[string]any
}

// newIndex returns the index of a list, empty without keys. Of elements with one key it has the first.
func newIndex(s *Schema, elements []any) index {
	x := index{}
	if s.ListType != "map" || len(s.ListMapKeys) == 0 || len(elements) == 0 {
		return x
	}
	x.keys, x.entries = s.ListMapKeys, make(map[string]any, len(elements))
	for _, e := range elements {
		if key, ok := x.key(e); ok && x.entries[key] == nil {
			x.entries[key] = e
		}
	}
	return x
}

func (x index) find(element any) any {
	if x.entries == nil {
		return nil
	}
	key, ok := x.key(element)
	if !ok {
		return nil
	}
	return x.entries[key]
}

// key returns text that is the same for the same values of the keys, which must be scalars.
func (x index) key(element any) (string, bool) {
	m, ok := element.(map[string]any)
	if !ok {
		return "", false
	}
	var out strings.Builder
	for _, k := range x.keys {
		if !writeScalar(&out, m[k]) {
			return "", false
		}
	}
	return out.String(), true
}

func writeScalar(out *strings.Builder, v any) bool {
	switch v := v.(type) {
	case string:
		out.WriteString(strconv.Quote(v))
	case int64:
		out.WriteString("i" + strconv.FormatInt(v, 10))
	case float64:
		out.WriteString("f" + strconv.FormatFloat(v, 'g', -1, 64))
	case bool:
		out.WriteString("b" + strconv.FormatBool(v))
	default:
		return false
	}
	out.WriteByte(0)
	return true
}
