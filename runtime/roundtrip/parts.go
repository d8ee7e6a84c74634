package roundtrip

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

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
