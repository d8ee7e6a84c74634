package roundtrip

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
)

// meaning compares objects as apimachinery does, and documents by their content: a RawExtension or FieldsV1 that was
// read as CBOR has other bytes than one that was read as JSON.
var meaning = func() conversion.Equalities {
	out := equality.Semantic.Copy()
	if err := out.AddFuncs(
		func(a, b runtime.RawExtension) bool { return saying(a) == saying(b) },
		func(a, b metav1.FieldsV1) bool { return saying(a) == saying(b) },
	); err != nil {
		panic(err) // a mistake in the list of functions
	}
	return out
}()

// saying returns the JSON of a document, in one order and form.
func saying(of json.Marshaler) string {
	data, err := of.MarshalJSON()
	if err != nil {
		return fmt.Sprintf("%+v", of)
	}
	var value any
	if json.Unmarshal(data, &value) != nil {
		return string(data)
	}
	if data, err = json.Marshal(value); err != nil {
		return err.Error()
	}
	return string(data)
}

// difference is the first place where two objects differ, or the reason why they could not be compared.
type difference struct {
	path, text string
}

func (d difference) found() bool { return d.text != "" }

func failed(what string, err error) difference { return difference{text: what + ": " + err.Error()} }

// compare finds the first difference between an object and its copy from a round trip. As in apimachinery, empty lists
// and maps equal absent ones, and quantities and times are compared by their meaning.
func compare(in, out any) difference {
	return differ("", reflect.ValueOf(in), reflect.ValueOf(out))
}

func differ(path string, a, b reflect.Value) difference {
	hidden := hides(a.Type(), map[reflect.Type]bool{})
	if !hidden && meaning.DeepEqual(a.Interface(), b.Interface()) {
		return difference{}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() && !b.IsNil() {
			return differ(path, a.Elem(), b.Elem())
		}
	case reflect.Struct:
		if a.Type() == reflect.TypeFor[runtime.RawExtension]() || a.Type() == reflect.TypeFor[metav1.FieldsV1]() {
			break
		}
		for i := range a.NumField() {
			field := a.Type().Field(i)
			if !field.IsExported() {
				continue
			}
			if d := differ(join(path, field), a.Field(i), b.Field(i)); d.found() {
				return d
			}
		}
	case reflect.Slice, reflect.Array:
		if a.Len() == b.Len() {
			for i := range a.Len() {
				if d := differ(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d.found() {
					return d
				}
			}
		}
	case reflect.Map:
		for _, key := range sortedKeys(a) {
			other := b.MapIndex(key)
			at := fmt.Sprintf("%s[%q]", path, fmt.Sprint(key))
			if !other.IsValid() {
				return difference{at, shown(a.MapIndex(key)) + " is missing"}
			}
			if d := differ(at, a.MapIndex(key), other); d.found() {
				return d
			}
		}
	}
	if hidden && alike(a, b) {
		return difference{}
	}
	return difference{path, shown(a) + " became " + shown(b)}
}

// hides reports whether a type has unexported fields below it, at which apimachinery's comparison panics.
func hides(t reflect.Type, seen map[reflect.Type]bool) bool {
	if _, known := meaning.Equalities[t]; known || seen[t] {
		return false
	}
	seen[t] = true
	return t.Kind() == reflect.Struct && opaque(t) ||
		slices.ContainsFunc(partTypes(t), func(part reflect.Type) bool { return hides(part, seen) })
}

// alike reports whether two values with unexported fields are the same. The exported parts are the same as far as both
// have them. Encodings carry unexported fields only of values that write their own JSON.
func alike(a, b reflect.Value) bool {
	switch a.Kind() {
	case reflect.Pointer:
		return a.IsNil() == b.IsNil()
	case reflect.Slice, reflect.Map:
		return a.Len() == b.Len()
	}
	pointer := reflect.PointerTo(a.Type())
	if !pointer.Implements(reflect.TypeFor[json.Marshaler]()) &&
		!pointer.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return true
	}
	x, errX := json.Marshal(pointerTo(a))
	y, errY := json.Marshal(pointerTo(b))
	return errX == nil && errY == nil && string(x) == string(y)
}

func pointerTo(v reflect.Value) any {
	p := reflect.New(v.Type())
	p.Elem().Set(v)
	return p.Interface()
}

// join returns the path of a field, by the field's name in JSON if it has one.
func join(path string, f reflect.StructField) string {
	name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case name == "" && (f.Anonymous || strings.Contains(rest, "inline")):
		return path
	case name == "" || name == "-":
		name = f.Name
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

func shown(v reflect.Value) string {
	for v.Kind() == reflect.Pointer && !v.IsNil() {
		if s, ok := v.Interface().(fmt.Stringer); ok {
			return s.String()
		}
		v = v.Elem()
	}
	text := fmt.Sprintf("%+v", v)
	switch document := v.Interface().(type) {
	case runtime.RawExtension:
		text = saying(document)
	case metav1.FieldsV1:
		text = saying(document)
	}
	switch {
	case v.Kind() == reflect.Pointer, v.Kind() == reflect.Slice && v.IsNil(), v.Kind() == reflect.Map && v.IsNil():
		return "nil"
	case v.Kind() == reflect.String:
		text = fmt.Sprintf("%q", v)
	}
	if len(text) > 200 {
		text = text[:200] + "..."
	}
	return text
}

// shared finds memory that both an object and its copy refer to.
func shared(in, out any) difference {
	mine := map[uintptr]bool{}
	walk("", reflect.ValueOf(in), func(_ string, v reflect.Value) { mine[memory(v)] = true })
	var found difference
	walk("", reflect.ValueOf(out), func(path string, v reflect.Value) {
		if at := memory(v); at != 0 && mine[at] && !found.found() {
			found = difference{path, "the copy shares its memory with the object"}
		}
	})
	return found
}

// memory returns the address to which a reference refers, or 0. A value of size 0 has no memory to share.
func memory(v reflect.Value) uintptr {
	switch v.Kind() {
	case reflect.Slice, reflect.Pointer:
		if v.IsNil() || v.Type().Elem().Size() == 0 || v.Kind() == reflect.Slice && v.Cap() == 0 {
			return 0
		}
		return v.Pointer()
	case reflect.Map:
		return v.Pointer()
	}
	return 0
}

// parts visits the values directly below a value: exported fields, elements, the values of a map in the order of its
// keys, and the value that a pointer or an interface holds. It gives each its path. visit may change a part, except
// below an interface.
func parts(path string, v reflect.Value, visit func(path string, part reflect.Value)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			visit(path, v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Type().Field(i); f.IsExported() {
				visit(join(path, f), v.Field(i))
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			visit(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
		}
	case reflect.Map:
		for _, key := range sortedKeys(v) {
			value := reflect.New(v.Type().Elem()).Elem() // the values of a map can't be changed in place
			value.Set(v.MapIndex(key))
			visit(fmt.Sprintf("%s[%q]", path, fmt.Sprint(key)), value)
			v.SetMapIndex(key, value)
		}
	}
}

func walk(path string, v reflect.Value, visit func(path string, v reflect.Value)) {
	visit(path, v)
	parts(path, v, func(path string, part reflect.Value) { walk(path, part, visit) })
}

// partTypes returns the types of the values directly below values of a type, without those of interfaces.
func partTypes(t reflect.Type) []reflect.Type {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return []reflect.Type{t.Elem()}
	case reflect.Map:
		return []reflect.Type{t.Key(), t.Elem()}
	case reflect.Struct:
		var out []reflect.Type
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() {
				out = append(out, f.Type)
			}
		}
		return out
	}
	return nil
}

func sortedKeys(m reflect.Value) []reflect.Value {
	return slices.SortedFunc(slices.Values(m.MapKeys()), func(a, b reflect.Value) int {
		return strings.Compare(fmt.Sprint(a), fmt.Sprint(b))
	})
}
