package ownership

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"

	"sigs.k8s.io/structured-merge-diff/v6/value"
)

var (
	asJSON = reflect.TypeFor[json.Marshaler]()
	asText = reflect.TypeFor[encoding.TextMarshaler]()
	number = reflect.TypeFor[json.Number]()

	// structured-merge-diff calls these methods in place of MarshalJSON. Those of apimachinery return what the JSON
	// says. Others may not: Karpenter's NillableDuration returns the bytes of its JSON.
	asUnstructured          = reflect.TypeFor[value.UnstructuredConverter]()
	asUnstructuredWithError = reflect.TypeFor[value.UnstructuredConverterWithError]()
)

const apimachinery = "k8s.io/apimachinery/"

// isMisread reports whether structured-merge-diff, which reads Go values by reflection, reads some value of a type in
// another way than encoding/json writes it, or panics at it.
func isMisread(t reflect.Type, seen map[any]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	if p := reflect.PointerTo(t); p.Implements(asJSON) {
		converts := p.Implements(asUnstructured) || p.Implements(asUnstructuredWithError)
		return converts && !strings.HasPrefix(t.PkgPath(), apimachinery)
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
		return isMisreadStruct(t, map[any]bool{}, seen, 0)
	}
	return false
}

func hasMethod(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(asJSON) || p.Implements(asText)
}

// maxInlined is how deep structured-merge-diff reads structs that are inlined in one another: of one that is deeper, it
// keeps the paths to all fields in the same memory (buildStructCacheEntry), and reads the last field for each of them.
const maxInlined = 2

// isMisreadStruct is isMisread for the fields of a struct and of those that it inlines, whose names are noted.
// structured-merge-diff takes the last of several fields with one name, leaves out embedded values without a name that
// are no structs, reads zero values through an embedded pointer that is nil, and knows no option "string".
func isMisreadStruct(t reflect.Type, names, seen map[any]bool, depth int) bool {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		if f.Anonymous && name == "" {
			if f.Type.Kind() != reflect.Struct || depth == maxInlined ||
				isMisreadStruct(f.Type, names, seen, depth+1) {
				return true
			}
			continue
		}
		if name == "" {
			name = f.Name
		}
		if names[name] || strings.Contains(options, "string") || isMisread(f.Type, seen) {
			return true
		}
		names[name] = true
	}
	return false
}
