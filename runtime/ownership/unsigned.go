package ownership

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// wideConverter converts objects of all Go types. structured-merge-diff reads Go values by reflection and panics at a
// uint64: an object that may hold one is converted to its JSON form first.
type wideConverter struct {
	managedfields.TypeConverter
	// wide holds, by Go type, whether it leads to a uint64. A type is looked at once.
	wide *sync.Map
}

func newWideConverter(types managedfields.TypeConverter) wideConverter {
	return wideConverter{types, new(sync.Map)}
}

func (c wideConverter) ObjectToTyped(obj runtime.Object,
	options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if c.mayBeWide(reflect.TypeOf(obj)) {
		content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(obj)
		if err != nil {
			return nil, err
		}
		obj = &unstructured.Unstructured{Object: content}
	}
	return c.TypeConverter.ObjectToTyped(obj, options...)
}

func (c wideConverter) mayBeWide(t reflect.Type) bool {
	if known, ok := c.wide.Load(t); ok {
		return known.(bool)
	}
	found := leadsToWide(t, map[reflect.Type]bool{})
	c.wide.Store(t, found)
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
