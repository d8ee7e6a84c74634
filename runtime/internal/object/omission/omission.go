// Package omission leaves the zero values of optional structs out of JSON. encoding/json writes a struct that is no
// pointer although its field has omitempty: {"logo":{"name":""}} of an object without a logo.
//
// It may know package rendition.
package omission

import (
	"bytes"
	"context"
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
	of      reflect.Type
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
func Of(t reflect.Type) *Shape {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	b := builder{}
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
		return &Shape{of: t}
	}
	s.of = t
	return s
}

// Empty reports whether a shape leaves out nothing.
func (s *Shape) Empty() bool { return s.empty() }

type key struct{}

// With returns a context with the shape of the objects that are validated.
func With(ctx context.Context, s *Shape) context.Context { return context.WithValue(ctx, key{}, s) }

// From returns the shape that a context has for a type, or nil.
func From(ctx context.Context, t reflect.Type) *Shape {
	if s, _ := ctx.Value(key{}).(*Shape); s != nil && s.of == t {
		return s
	}
	return nil
}

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
	pointer := reflect.PointerTo(t)
	if pointer.Implements(jsonMarshaler) || pointer.Implements(textMarshaler) {
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
	case reflect.Slice, reflect.Array, reflect.Map:
		s := &Shape{}
		b[t] = s
		s.elem = b.shape(t.Elem())
		return s
	}
	return nil
}

func (b builder) fields(t reflect.Type, s *Shape) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		inner := f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		switch {
		case f.Anonymous && name == "" && inner.Kind() == reflect.Struct:
			b.fields(inner, s)
		case f.IsExported() && f.Tag.Get("json") != "-":
			if name == "" {
				name = f.Name
			}
			m := member{shape: b.shape(f.Type)}
			if f.Type.Kind() == reflect.Struct && isOptional(options) {
				m.zero, _ = json.Marshal(reflect.New(f.Type).Interface()) // nil if there is no JSON of it
				_ = kjson.UnmarshalCaseSensitivePreserveInts(m.zero, &m.zeroValue)
			}
			s.members[name] = m
		}
	}
}

func isOptional(options string) bool {
	all := strings.Split(options, ",")
	return slices.Contains(all, "omitempty") || slices.Contains(all, "omitzero")
}

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
	c.value(s, 0)
	if len(c.cuts) == 0 {
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

func (c *cutter) value(s *Shape, at int) {
	if s == nil || at >= len(c.data) {
		return
	}
	switch c.data[at] {
	case '{':
		c.members(s, at)
	case '[':
		rendition.Elements(c.data, at+1, func(start, _ int) bool {
			c.value(s.elem, start)
			return true
		})
	}
}

func (c *cutter) members(s *Shape, at int) {
	kept := false
	rendition.Members(c.data, at+1, func(key []byte, start, end int) bool {
		m := member{shape: s.elem}
		if s.members != nil {
			m = s.members[string(key)]
		}
		if m.zero == nil || !bytes.Equal(c.data[start:end], m.zero) {
			kept = true
			c.value(m.shape, start)
			return true
		}
		cut := span{start - len(key) - len(`"":`), end}
		switch {
		case kept:
			cut.start-- // the comma before it
		case c.data[end] == ',':
			cut.end++
		}
		c.cuts = append(c.cuts, cut)
		return true
	})
}
