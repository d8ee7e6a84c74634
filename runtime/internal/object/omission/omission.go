// Package omission makes the JSON of a Go value what a client sent. encoding/json writes a struct that is no pointer
// although its field has omitempty: {"logo":{"name":""}} of an object without a logo; and it writes fields without
// omitempty that nobody sent: null for a list, "" for a text. It leaves out zero values that are no pointers, which a
// client may have sent: {"lit":false}. And types such as metav1.Duration write {"wait":"1m0s"} where a client sent
// {"wait":"60s"}.
//
// It may know packages fault and rendition.
package omission

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"apigen.dev/runtime/internal/object/rendition"
	kjson "sigs.k8s.io/json"
)

// Shape says which members of the JSON of a Go type are left out. It is safe for concurrent use. Nil leaves out
// nothing.
type Shape struct {
	members map[string]member
	// elem is the shape of the elements of a list, and of the values of a map.
	elem *Shape
}

// member is a member of an object. It is left out where its value is zero; nil means no value. zeroValue is zero
// decoded.
type member struct {
	zero      []byte
	zeroValue any
	shape     *Shape
}

// Of returns the shape of a type of objects, whose metadata is left as it is. It is never nil, but may be
// empty. It takes some time: callers keep it.
func Of(t reflect.Type) *Shape { return builder{}.whole(t) }

// whole returns the shape of a type of objects, and has those of the types inside afterwards.
func (b builder) whole(t reflect.Type) *Shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s := b.shape(t)
	if s != nil {
		delete(s.members, rendition.MetadataKey)
	}
	for range len(b) { // what leaves out nothing below may make what is above it such a shape
		for _, below := range b {
			below.trim()
		}
	}
	if s.empty() {
		return &Shape{}
	}
	return s
}

// Empty reports whether a shape leaves out nothing.
func (s *Shape) Empty() bool { return s.empty() }

// builder has the shape of each type, so that a type may hold itself.
type builder map[reflect.Type]*Shape

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// shape returns the shape of a type, or nil where its JSON is its own or has no members.
func (b builder) shape(t reflect.Type) *Shape {
	if s, known := b[t]; known {
		return s
	}
	if hasOwnJSON(t) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return b.shape(t.Elem())
	case reflect.Struct:
		s := &Shape{members: map[string]member{}}
		b[t] = s
		b.fields(t, s)
		return s
	case reflect.Slice, reflect.Map:
		s := &Shape{}
		b[t] = s
		s.elem = b.shape(t.Elem())
		return s
	}
	return nil
}

func (b builder) fields(t reflect.Type, s *Shape) {
	eachField(t, nil, func(f reflect.StructField, name, options string, _ []int) {
		m := member{shape: b.shape(f.Type)}
		switch {
		case isNil(f.Type) && !isOptional(options):
			m.zero = []byte(null)
		case f.Type.Kind() == reflect.Struct && isOptional(options):
			m.zero, _ = json.Marshal(reflect.New(f.Type).Interface()) // nil if there is no JSON of it
			_ = kjson.UnmarshalCaseSensitivePreserveInts(m.zero, &m.zeroValue)
		}
		s.members[name] = m
	})
}

// isNil reports whether encoding/json writes the zero value of a type as null.
func isNil(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Interface:
		return !hasOwnJSON(t)
	}
	return false
}

// eachField calls do with each field of a struct that is in its JSON, the fields of embedded structs among them: with
// its name there, the options of its tag, and its index below outer.
func eachField(
	t reflect.Type, outer []int, do func(f reflect.StructField, name, options string, index []int),
) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		index := append(slices.Clone(outer), i)
		switch {
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			eachField(inner, index, do)
		case f.IsExported() && f.Tag.Get("json") != "-":
			if name == "" {
				name = f.Name
			}
			do(f, name, options, index)
		}
	}
}

// hasOwnJSON reports whether the JSON of a type is its own.
func hasOwnJSON(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(jsonMarshaler) || pointer.Implements(textMarshaler)
}

func isOptional(options string) bool {
	return hasOption(options, "omitempty") || hasOption(options, "omitzero")
}

// hasOption reports whether the options of a tag have one.
func hasOption(options, name string) bool { return slices.Contains(strings.Split(options, ","), name) }

// trim removes what leaves out nothing.
func (s *Shape) trim() {
	if s.elem.empty() {
		s.elem = nil
	}
	for name, m := range s.members {
		if m.shape.empty() {
			m.shape = nil
		}
		s.members[name] = m
		if m.shape == nil && m.zero == nil {
			delete(s.members, name)
		}
	}
}

func (s *Shape) empty() bool { return s == nil || s.elem == nil && len(s.members) == 0 }

// Omit returns the JSON of an object without the zero values of optional structs. data has no white space; Omit may
// change it.
func (s *Shape) Omit(data []byte) []byte {
	if s.empty() {
		return data
	}
	c := cutter{data: data}
	if c.value(s, 0) < 0 || len(c.cuts) == 0 {
		return data
	}
	out, at := data[:0], 0
	for _, cut := range c.cuts {
		out, at = append(out, data[at:cut.start]...), cut.end
	}
	return append(out, data[at:]...)
}

// cutter collects what to cut out of data, in order.
type cutter struct {
	data []byte
	cuts []span
}

type span struct{ start, end int }

// value collects what to cut out of the value at an index, and returns the index behind it.
func (c *cutter) value(s *Shape, at int) (end int) {
	switch {
	case s == nil || at >= len(c.data):
	case c.data[at] == '{':
		return c.members(s, at)
	case c.data[at] == '[':
		return rendition.EachElement(c.data, at+1, func(start int) int { return c.value(s.elem, start) })
	}
	return rendition.Skip(c.data, at)
}

func (c *cutter) members(s *Shape, at int) (end int) {
	kept := false
	return rendition.EachMember(c.data, at+1, func(key []byte, start int) int {
		m := member{shape: s.elem}
		if s.members != nil {
			m = s.members[string(key)]
		}
		end := start + len(m.zero)
		if m.zero == nil || !bytes.HasPrefix(c.data[start:], m.zero) || end >= len(c.data) ||
			c.data[end] != ',' && c.data[end] != '}' {
			kept = true
			return c.value(m.shape, start)
		}
		c.cuts = append(c.cuts, memberSpan(c.data, key, start, end, kept))
		return end
	})
}

// memberSpan returns where a member with its comma is in JSON without white space: the comma is the one before it if
// members before it are kept.
func memberSpan(data, key []byte, start, end int, kept bool) span {
	s := span{start - len(key) - len(`"":`), end}
	switch {
	case kept:
		s.start--
	case data[end] == ',':
		s.end++
	}
	return s
}
