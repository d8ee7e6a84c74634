package omission

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/rendition"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// NullItems calls found with each element of a list that is null in the JSON of an object, although the schema of a
// custom resource refuses that: with its place, and the type that it should have, such as object. A Go value has a zero
// value instead. It ends where found returns false. JSON without null costs no walk.
func (f *Form) NullItems(data []byte, found func(at *fault.Place, of string) bool) {
	at := bytes.IndexByte(data, '{')
	if f == nil || at < 0 || !bytes.Contains(data, []byte(null)) {
		return
	}
	search := nullSearch{data: data, found: found}
	search.value(f.zeros, at, false)
}

// nullSearch looks for null in the lists of data.
type nullSearch struct {
	fault.Place
	data  []byte
	found func(at *fault.Place, of string) bool
}

// value looks into the value at an index of data, and returns the index behind it, or -1 to end. nullable reports
// whether the elements of a list may be null.
func (s *nullSearch) value(z *Zeros, at int, nullable bool) (end int) {
	switch {
	case z == nil || at >= len(s.data):
	case s.data[at] == '{' && z.members != nil:
		return rendition.EachMember(s.data, at+1, func(key []byte, start int) int {
			f := z.members[string(key)]
			if f == nil {
				return rendition.Skip(s.data, start)
			}
			return s.below(fault.Step{Name: key}, f.below, start, f.nullItems)
		})
	case s.data[at] == '{' && z.isMap:
		return rendition.EachMember(s.data, at+1, func(key []byte, start int) int {
			return s.below(fault.Step{Name: key, InMap: true}, z.elem, start, nullable)
		})
	case s.data[at] == '[' && !z.isMap:
		n := -1
		return rendition.EachElement(s.data, at+1, func(start int) int {
			n++
			return s.element(z, n, start, nullable)
		})
	}
	return rendition.Skip(s.data, at)
}

func (s *nullSearch) element(z *Zeros, n, start int, nullable bool) (end int) {
	if z.items == "" || nullable || !isNull(s.data, start) {
		return s.below(fault.Step{Index: n}, z.elem, start, nullable)
	}
	s.At = append(s.At, fault.Step{Index: n})
	more := s.found(&s.Place, z.items)
	s.At = s.At[:len(s.At)-1]
	if !more {
		return -1
	}
	return rendition.Skip(s.data, start)
}

func (s *nullSearch) below(to fault.Step, z *Zeros, start int, nullable bool) (end int) {
	s.At = append(s.At, to)
	end = s.value(z, start, nullable)
	s.At = s.At[:len(s.At)-1]
	return end
}

// Decodable returns the JSON of an object for its Go type. Null in a field that may not have it is no value, but some
// types with JSON of their own don't decode it, such as metav1.Duration: their zero value takes its place. JSON without
// null costs no walk.
func (f *Form) Decodable(data []byte) []byte {
	at := bytes.IndexByte(data, '{')
	if f == nil || at < 0 || !bytes.Contains(data, []byte(null)) {
		return data
	}
	fill := nullFiller{data: data}
	if fill.value(f.zeros, at) < 0 || fill.at == 0 {
		return data
	}
	return append(fill.out, data[fill.at:]...)
}

// nullFiller copies data to out, with zero values for null. at is the index up to which it has.
type nullFiller struct {
	data, out []byte
	at        int
}

// value looks into the value at an index of data, and returns the index behind it.
func (n *nullFiller) value(z *Zeros, at int) (end int) {
	switch {
	case z == nil || at >= len(n.data):
	case n.data[at] == '{' && z.members != nil:
		return rendition.EachMember(n.data, at+1, func(key []byte, start int) int {
			f := z.members[string(key)]
			if f == nil {
				return rendition.Skip(n.data, start)
			}
			return n.member(f.below, f.of, start)
		})
	case n.data[at] == '{' && z.isMap:
		return rendition.EachMember(n.data, at+1, func(_ []byte, start int) int {
			if z.elem == nil {
				return rendition.Skip(n.data, start)
			}
			return n.member(z.elem, z.elem.text, start)
		})
	case n.data[at] == '[' && !z.isMap:
		return rendition.EachElement(n.data, at+1, func(start int) int { return n.value(z.elem, start) })
	}
	return rendition.Skip(n.data, at)
}

// member looks into a member of a type.
func (n *nullFiller) member(z *Zeros, of reflect.Type, start int) (end int) {
	if !isNull(n.data, start) {
		return n.value(z, start)
	}
	end = rendition.Skip(n.data, start)
	if z == nil || z.text != of || of == nil || end < 0 { // a pointer is nil
		return end
	}
	if zero := zeroOf(of, false); zero != "" {
		n.out = append(append(n.out, n.data[n.at:start]...), zero...)
		n.at = end
	}
	return end
}

// FillLists makes lists empty that are nil in a Go value that was decoded of protobuf, and whose tags lack omitempty:
// protobuf has no empty list, and a list that must be there would be missing.
func (f *Form) FillLists(obj any) {
	if f != nil {
		f.zeros.fillLists(reflect.ValueOf(obj))
	}
}

func (z *Zeros) fillLists(v reflect.Value) {
	if v = pointed(v); z == nil || !v.IsValid() {
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for name, known := range z.members {
			_, value := z.field(v, name)
			if of := known.of; of.Kind() == reflect.Slice && of.Elem().Kind() != reflect.Uint8 && !known.omitted &&
				!known.nullable && value.IsValid() && value.IsNil() && known.below != nil && known.below.text == nil {
				value.Set(reflect.MakeSlice(of, 0, 0))
			}
			known.below.fillLists(value)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			z.elem.fillLists(v.Index(i))
		}
	case reflect.Map:
		for entries := v.MapRange(); entries.Next(); {
			changed := reflect.New(v.Type().Elem()).Elem()
			changed.Set(entries.Value())
			z.elem.fillLists(changed)
			v.SetMapIndex(entries.Key(), changed)
		}
	}
}

// schemaTyped is a type whose type in a schema is its own. Several, or none, stand for any.
type schemaTyped interface{ OpenAPISchemaType() []string }

// schemaType returns the type of values of a Go type in a schema; "" if it isn't known, or they may be of several.
func schemaType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := reflect.New(t).Interface().(type) {
	case *intstr.IntOrString, *resource.Quantity: // a number or a text
		return ""
	case *runtime.RawExtension, runtime.Unstructured:
		return "object"
	case schemaTyped:
		if types := value.OpenAPISchemaType(); len(types) == 1 && types[0] != "array" { // whose items nobody knows
			return types[0]
		}
		return ""
	case json.Marshaler:
		return ""
	case encoding.TextMarshaler:
		return "string"
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct, kind == reflect.Map:
		return "object"
	case kind == reflect.String, kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string"
	case kind == reflect.Slice, kind == reflect.Array:
		return "array"
	case kind == reflect.Bool:
		return "boolean"
	case kind == reflect.Float32, kind == reflect.Float64:
		return "number"
	case slices.Contains(integers, kind):
		return "integer"
	}
	return ""
}

var integers = []reflect.Kind{
	reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
	reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
}
