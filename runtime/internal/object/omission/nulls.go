package omission

import (
	"bytes"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/internal/object/fault"
	"apigen.dev/runtime/internal/object/rendition"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Nulls calls found with each null in the JSON of an object that the schema of a custom resource refuses, if it gets to
// see it: with its place, the type that it should have, such as object, and whether it is an element of a list. A Go
// value has a zero value instead. It ends where found returns false.
func (f *Form) Nulls(data []byte, found func(at *fault.Place, of string, isItem bool) bool) {
	w := nullWalk{bySchema: true}
	w.found = func(n nullValue) bool {
		of := n.schemaType()
		return of == "" || found(&w.Place, of, n.isItem())
	}
	w.over(f, data)
}

// Decodable returns the JSON of an object for its Go type. Null in a field that may not have it is no value, but some
// types with JSON of their own don't decode it, such as metav1.Duration: their zero value takes its place.
func (f *Form) Decodable(data []byte) []byte {
	var out []byte
	copied := 0 // of data
	w := nullWalk{found: func(n nullValue) bool {
		if n.isItem() || n.known == nil || n.known.text == nil || n.known.text != n.of { // a pointer is nil
			return true
		}
		if zero := zeroOf(n.of, false); zero != "" {
			out = append(append(out, data[copied:n.start]...), zero...)
			copied = n.end
		}
		return true
	}}
	if !w.over(f, data) || copied == 0 {
		return data
	}
	return append(out, data[copied:]...)
}

// nullValue is null in JSON: an element of a list or map, or a member of an object.
type nullValue struct {
	start, end int
	in         *Zeros // the list or map; nil of members
	field      *field // of members
	// known is what is known of the type that the value has. of is that type, for members and values of maps; nil of
	// others.
	known *Zeros
	of    reflect.Type
	// nullable: it is in a list or map whose elements may be null.
	nullable bool
}

func (n nullValue) isItem() bool { return n.in != nil && !n.in.isMap }

// schemaType returns the type that the value should have in a schema; "" if it may be null.
func (n nullValue) schemaType() string {
	switch {
	case n.in != nil && !n.nullable:
		return n.in.items
	case n.field != nil && !n.field.nullable && !n.field.untyped:
		return n.field.typ
	}
	return ""
}

// nullWalk calls found with each null in an object, until that returns false. Its place is that of the value.
type nullWalk struct {
	fault.Place
	data  []byte
	found func(n nullValue) bool
	// bySchema: the walk leaves out what has no schema.
	bySchema bool
}

// over walks over the JSON of an object, if there is null in it. It reports whether the walk came to its end.
func (w *nullWalk) over(f *Form, data []byte) bool {
	w.data = data
	at := bytes.IndexByte(data, '{')
	return f != nil && at >= 0 && bytes.Contains(data, []byte(null)) && w.value(f.zeros, at, false) >= 0
}

// value looks into the value at an index of data, and returns the index behind it, or -1 to end. nullable reports
// whether the elements of a list may be null.
func (w *nullWalk) value(z *Zeros, at int, nullable bool) (end int) {
	switch {
	case z == nil || at >= len(w.data):
	case w.data[at] == '{' && z.members != nil:
		return rendition.EachMember(w.data, at+1, func(key []byte, start int) int {
			f := z.members[string(key)]
			if f == nil {
				return rendition.Skip(w.data, start)
			}
			n := nullValue{start: start, field: f, known: f.below, of: f.of, nullable: f.nullItems}
			if w.bySchema && f.schemaless {
				n.known = nil
			}
			return w.below(fault.Step{Name: key}, n)
		})
	case w.data[at] == '{' && z.isMap:
		return rendition.EachMember(w.data, at+1, func(key []byte, start int) int {
			n := nullValue{start: start, in: z, known: z.elem, nullable: nullable}
			if z.elem != nil {
				n.of = z.elem.text
			}
			return w.below(fault.Step{Name: key, InMap: true}, n)
		})
	case w.data[at] == '[' && !z.isMap:
		i := -1
		return rendition.EachElement(w.data, at+1, func(start int) int {
			i++
			return w.below(fault.Step{Index: i}, nullValue{start: start, in: z, known: z.elem, nullable: nullable})
		})
	}
	return rendition.Skip(w.data, at)
}

// below looks at a value in another one, which n describes as if it were null.
func (w *nullWalk) below(to fault.Step, n nullValue) (end int) {
	w.At = append(w.At, to)
	if !isNull(w.data, n.start) {
		end = w.value(n.known, n.start, n.nullable)
	} else if end = rendition.Skip(w.data, n.start); end >= 0 {
		if n.end = end; !w.found(n) {
			end = -1
		}
	}
	w.At = w.At[:len(w.At)-1]
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
	case reflect.Slice:
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

// schemaType returns the type of values of a Go type in a schema, or the types of numbers that may be text; "" if it
// isn't known, or they may be of any.
func schemaType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch value := reflect.New(t).Interface().(type) {
	case *intstr.IntOrString, *resource.Quantity:
		return "integer,string"
	case *time.Time:
		return "string"
	case *runtime.RawExtension, runtime.Unstructured:
		return "object"
	case schemaTyped:
		if types := value.OpenAPISchemaType(); len(types) == 1 && types[0] != "array" { // whose items nobody knows
			return types[0]
		}
		return ""
	case json.Marshaler:
		return jsonType(t, value)
	case encoding.TextMarshaler:
		return "string"
	}
	switch kind := t.Kind(); {
	case kind == reflect.Struct, kind == reflect.Map:
		return "object"
	case kind == reflect.String, kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return "string"
	case kind == reflect.Slice:
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

// jsonType returns the type of the JSON that a type writes itself; "" if its zero value doesn't show it.
func jsonType(of reflect.Type, zero json.Marshaler) string {
	data, err := json.Marshal(zero)
	if err != nil {
		return ""
	}
	i := strings.IndexByte(`{"0f`, data[0])
	if i < 0 && of.Kind() == reflect.Struct { // the zero value is null
		i = 0
	}
	return [...]string{"", "object", "string", "number", "boolean"}[i+1]
}

var integers = []reflect.Kind{
	reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
	reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64,
}
