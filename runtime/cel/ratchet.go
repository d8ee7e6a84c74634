package cel

import "apigen.dev/runtime/internal/correlation"

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
	return r.schema != nil && correlation.Unchanged(correlated{r.schema}, r.now, r.old)
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

// correlated is a Schema for package correlation.
type correlated struct{ *Schema }

func (s correlated) Member(name string) (correlated, bool) {
	member := s.Properties[name]
	if member == nil {
		member = s.Values
	}
	return correlated{member}, member != nil
}

func (s correlated) MapItems() (items correlated, keys []string, ok bool) {
	return correlated{s.Items}, s.ListMapKeys, s.ListType == "map" && s.Items != nil
}

// newIndex returns the index of a list by its keys; it finds nothing in lists of other types.
func newIndex(s *Schema, elements []any) correlation.Index {
	if s.ListType != "map" {
		return correlation.Index{}
	}
	return correlation.NewIndex(s.ListMapKeys, elements)
}
