package ownership

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
)

var (
	asJSON = reflect.TypeFor[json.Marshaler]()
	asText = reflect.TypeFor[encoding.TextMarshaler]()
	number = reflect.TypeFor[json.Number]()
)

// isMisread reports whether structured-merge-diff, which reads Go values by reflection, reads some value of a type in
// another way than encoding/json writes it, or panics at it.
func isMisread(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if reflect.PointerTo(t).Implements(asJSON) {
		return false
	}
	if reflect.PointerTo(t).Implements(asText) || t == number {
		return true
	}
	switch t.Kind() {
	case reflect.Uint, reflect.Uint64, reflect.Uintptr, reflect.Array:
		return true
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Pointer || isMisread(t.Elem(), seen)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 { // both write plain bytes in base64
			return hasMethod(t.Elem())
		}
		return isMisread(t.Elem(), seen)
	case reflect.Map:
		return t.Key().Kind() != reflect.String || t.Key().Implements(asText) || isMisread(t.Elem(), seen) ||
			// A value of a map has no address, so that it has no methods of its pointer.
			hasMethod(t.Elem()) && !t.Elem().Implements(asJSON)
	case reflect.Struct:
		return isMisreadStruct(t, seen)
	}
	return false
}

func hasMethod(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(asJSON) || p.Implements(asText)
}

// isMisreadStruct is isMisread for a struct. structured-merge-diff takes the last of several fields with one name,
// leaves out embedded values without a name that are no structs, and knows no option "string".
func isMisreadStruct(t reflect.Type, seen map[reflect.Type]bool) bool {
	names := map[string]bool{}
	for _, f := range promoted(t, nil) {
		tag, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		name := tag
		if name == "" {
			name = f.Name
		}
		if f.Anonymous && tag == "" || names[name] || slices.Contains(strings.Split(options, ","), "string") ||
			isMisread(f.Type, seen) {
			return true
		}
		names[name] = true
	}
	return false
}

// promoted returns the fields of a struct that are on the wire, with those of the structs that it inlines.
func promoted(t reflect.Type, passed []reflect.Type) []reflect.StructField {
	if slices.Contains(passed, t) {
		return nil
	}
	var out []reflect.StructField
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch {
		case f.Tag.Get("json") == "-", !f.IsExported() && !f.Anonymous:
		case f.Anonymous && name == "" && of.Kind() == reflect.Struct:
			out = append(out, promoted(of, append(passed[:len(passed):len(passed)], t))...)
		default:
			out = append(out, f)
		}
	}
	return out
}
