package ownership

import (
	"reflect"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// Type makes typed values of the objects of a kind. It is safe for concurrent use.
type Type struct {
	parseable typed.ParseableType
	// wide holds, by Go type, whether it leads to a uint64. A type is looked at once.
	wide sync.Map
}

// ObjectToTyped returns the typed value of an object: a Go struct or an Unstructured. It is an error that names fields
// which the schema doesn't have. With AllowDuplicates, a Go struct of the schema isn't validated.
func (t *Type) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		return t.parseable.FromUnstructured(u.Object, options...)
	}
	// structured-merge-diff reads Go values by reflection and panics at a uint64.
	if t.mayBeWide(reflect.TypeOf(obj)) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil, err
		}
		return t.parseable.FromUnstructured(content, options...)
	}
	if slices.Contains(options, typed.AllowDuplicates) {
		// The schema was made of the Go type, and what compares and merges values checks the keys of their items. A
		// validation would walk through the whole object for each write, also through lists that are atomic.
		v, err := value.NewValueReflect(obj)
		if err != nil {
			return nil, err
		}
		//nolint:staticcheck // it is deprecated since validation costs little, which it doesn't for Go structs
		return typed.AsTypedUnvalidated(v, t.parseable.Schema, t.parseable.TypeRef), nil
	}
	return t.parseable.FromStructured(obj, options...)
}

func (t *Type) mayBeWide(of reflect.Type) bool {
	if known, ok := t.wide.Load(of); ok {
		return known.(bool)
	}
	found := leadsToWide(of, map[reflect.Type]bool{})
	t.wide.Store(of, found)
	return found
}

func leadsToWide(t reflect.Type, seen map[reflect.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch t.Kind() {
	case reflect.Uint64, reflect.Uintptr:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		return leadsToWide(t.Elem(), seen)
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && leadsToWide(f.Type, seen) {
				return true
			}
		}
	}
	return false
}
