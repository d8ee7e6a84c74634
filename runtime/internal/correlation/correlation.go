// Package correlation compares decoded JSON of a new object with that of an old one, part by part: an update may keep a
// fault of a part that it doesn't change (KEP-4008). Parts correspond if their members have one name, and the elements
// of a list of type map if their keys are the same.
//
// The package knows no other.
package correlation

import (
	"strconv"
	"strings"
)

// Schema is what the comparison asks of a schema. Its zero value describes nothing.
type Schema[S any] interface {
	// Member returns the schema of a member of an object, and false if the schema doesn't describe it.
	Member(name string) (S, bool)
	// MapItems returns the schema of the elements of a list of type map, and their keys; false for other lists.
	MapItems() (items S, keys []string, ok bool)
}

// Unchanged reports whether a value is what it was before. The elements of a list of type map may have another order. A
// member that the schema doesn't describe counts as changed, as metadata does, whose every write differs.
func Unchanged[S Schema[S]](s S, now, old any) bool {
	switch now := now.(type) {
	case map[string]any:
		old, ok := old.(map[string]any)
		if !ok || len(now) != len(old) {
			return false
		}
		for name, value := range now {
			before, there := old[name]
			member, described := s.Member(name)
			if !there || !described || !Unchanged(member, value, before) {
				return false
			}
		}
		return true
	case []any:
		old, ok := old.([]any)
		if !ok || len(now) != len(old) {
			return false
		}
		items, keys, isMap := s.MapItems()
		if !isMap {
			return Equal(now, old)
		}
		index := NewIndex(keys, old)
		for _, value := range now {
			if before := index.Find(value); before == nil || !Unchanged(items, value, before) {
				return false
			}
		}
		return true
	}
	return Equal(now, old)
}

// Equal compares decoded JSON.
func Equal(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a {
			if o, ok := b[k]; !ok || !Equal(v, o) {
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
			if !Equal(a[i], b[i]) {
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

// Index finds the elements of a list by the values of their keys, in constant time: a body may have a hundred thousand
// of them. The zero value finds nothing.
type Index struct {
	keys    []string
	entries map[string]any
}

// NewIndex returns the index of a list, which finds nothing without keys. Of elements with the same keys it finds the
// first.
func NewIndex(keys []string, elements []any) Index {
	if len(keys) == 0 || len(elements) == 0 {
		return Index{}
	}
	x := Index{keys, make(map[string]any, len(elements))}
	for _, e := range elements {
		if key, ok := x.key(e); ok && x.entries[key] == nil {
			x.entries[key] = e
		}
	}
	return x
}

// Find returns the element that has the keys of another one, or nil.
func (x Index) Find(element any) any {
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
func (x Index) key(element any) (string, bool) {
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
