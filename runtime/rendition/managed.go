package rendition

import (
	"slices"

	"apigen.dev/runtime/api"
)

// ManagedFieldsKey is the key of managedFields in metadata.
const ManagedFieldsKey = "managedFields"

// CutManagedFields returns the whole object of r without its managedFields, and their value. They are the larger part
// of many objects, expensive to decode and to encode, and the same in all versions. It returns false where they aren't
// the last of several members of the metadata, as encoding/json writes them.
func CutManagedFields(r api.Rendition) (object, managed []byte, ok bool) {
	start, end, found := Member(r.Payload, 0, MetadataKey)
	if !found || r.Payload[start] != '{' {
		return nil, nil, false
	}
	before, last := start, start // the ends of the last two members
	Members(r.Payload, start+1, func(key []byte, valueStart, valueEnd int) bool {
		before, last = last, valueEnd
		managed = nil
		if string(key) == ManagedFieldsKey {
			managed = r.Payload[valueStart:valueEnd]
		}
		return true
	})
	if managed == nil || before == start || last != end-1 {
		return nil, nil, false
	}
	object = make([]byte, 0, 1+len(r.Head)+len(r.Payload)-(last-before))
	object = append(object, '{')
	object = append(object, r.Head...)
	object = append(object, r.Payload[:before]...)
	return append(object, r.Payload[last:]...), managed, true
}

// InsertManagedFields inserts managedFields where encoding/json would write them. It returns false for an object that
// already has some, or has no other metadata.
func InsertManagedFields(r api.Rendition, managed []byte) (api.Rendition, bool) {
	start, end, found := Member(r.Payload, 0, MetadataKey)
	if !found || r.Payload[start] != '{' {
		return r, false
	}
	at := 0
	whole := Members(r.Payload, start+1, func(key []byte, _, valueEnd int) bool {
		if at = valueEnd; string(key) == ManagedFieldsKey {
			at = 0
		}
		return at > 0
	})
	if !whole || at != end-1 {
		return r, false
	}
	r.Payload = slices.Concat(r.Payload[:at], []byte(`,"`+ManagedFieldsKey+`":`), managed, r.Payload[at:])
	return r, true
}
