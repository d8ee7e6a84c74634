// Package compare holds values of types of the same shape, from different packages, against each other.
package compare

import (
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/randfill"
)

// Fill fills the values that the pointers point to. Values of the same shape become equal where the seed is.
func Fill(seed int64, object any, funcs ...any) {
	all := append([]any{
		func(v *runtime.RawExtension, c randfill.Continue) {
			*v = runtime.RawExtension{}
			c.Fill(&v.Raw)
		},
		func(v *resource.Quantity, c randfill.Continue) {
			*v = *resource.NewQuantity(c.Int63(), resource.DecimalSI)
		},
		func(v *metav1.FieldsV1, c randfill.Continue) { v.SetRawBytes([]byte(`{"f:a":{}}`)) },
		func(v *time.Time, c randfill.Continue) { *v = time.Unix(int64(c.Int31()), 0) },
	}, funcs...)
	all = append(all, bounded(reflect.TypeOf(object), all)...)
	randfill.NewWithSeed(seed).NilChance(0.25).NumElements(0, 2).MaxDepth(14).Funcs(all...).Fill(object)
}

// Difference says where two values differ, also in being nil or empty; or nothing.
func Difference(a, b any) string {
	return difference("", reflect.ValueOf(a), reflect.ValueOf(b))
}

func difference(path string, a, b reflect.Value) string {
	if a.Kind() != b.Kind() {
		return fmt.Sprintf("%s: %s and %s", path, a.Kind(), b.Kind())
	}
	switch a.Kind() {
	case reflect.Invalid:
		return ""
	case reflect.Pointer, reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return nilness(path, a, b)
		}
		return difference(path, a.Elem(), b.Elem())
	case reflect.Struct:
		return structs(path, a, b)
	case reflect.Slice, reflect.Array:
		return lists(path, a, b)
	case reflect.Map:
		return maps(path, a, b)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		return fmt.Sprintf("%s: a %s", path, a.Kind())
	}
	if x, y := fmt.Sprint(a), fmt.Sprint(b); x != y {
		return fmt.Sprintf("%s: %q and %q", path, x, y)
	}
	return ""
}

func nilness(path string, a, b reflect.Value) string {
	if a.IsNil() == b.IsNil() {
		return ""
	}
	return fmt.Sprintf("%s: nil is %v and %v", path, a.IsNil(), b.IsNil())
}

func structs(path string, a, b reflect.Value) string {
	if a.NumField() != b.NumField() {
		return fmt.Sprintf("%s: %d and %d fields", path, a.NumField(), b.NumField())
	}
	for i := range a.NumField() {
		name := a.Type().Field(i).Name
		if d := difference(path+"."+name, a.Field(i), b.FieldByName(name)); d != "" {
			return d
		}
	}
	return ""
}

func lists(path string, a, b reflect.Value) string {
	if a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
		return nilness(path, a, b)
	}
	if a.Len() != b.Len() {
		return fmt.Sprintf("%s: %d and %d elements", path, a.Len(), b.Len())
	}
	for i := range a.Len() {
		if d := difference(fmt.Sprintf("%s[%d]", path, i), a.Index(i), b.Index(i)); d != "" {
			return d
		}
	}
	return ""
}

func maps(path string, a, b reflect.Value) string {
	if a.IsNil() != b.IsNil() || a.Len() != b.Len() {
		return fmt.Sprintf("%s: %d and %d entries, nil is %v and %v", path, a.Len(), b.Len(), a.IsNil(), b.IsNil())
	}
	for _, key := range a.MapKeys() {
		other := b.MapIndex(key.Convert(b.Type().Key()))
		if !other.IsValid() {
			return fmt.Sprintf("%s: only one has %v", path, key)
		}
		if d := difference(fmt.Sprintf("%s[%v]", path, key), a.MapIndex(key), other); d != "" {
			return d
		}
	}
	return ""
}

// Shared says where the second value leads to memory that the first one leads to; or nothing. Times count as values.
func Shared(a, b any) string {
	if all := AllShared(a, b); len(all) > 0 {
		return all[0]
	}
	return ""
}

// AllShared says all places where the second value leads to memory that the first one leads to.
func AllShared(a, b any) []string {
	seen := map[uintptr]string{}
	walk("", reflect.ValueOf(a), func(path string, at uintptr) { seen[at] = path })
	var shared []string
	walk("", reflect.ValueOf(b), func(path string, at uintptr) {
		if other, ok := seen[at]; ok {
			shared = append(shared, fmt.Sprintf("%s is %s", path, other))
		}
	})
	return shared
}

var timeType = reflect.TypeFor[time.Time]()

// walk visits all memory that a value leads to.
func walk(path string, v reflect.Value, visit func(string, uintptr)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			if v.Type().Elem().Size() > 0 { // all values without a size may have one address
				visit(path, v.Pointer())
			}
			walk(path, v.Elem(), visit)
		}
	case reflect.Interface:
		walk(path, v.Elem(), visit)
	case reflect.Struct:
		if v.Type() == timeType {
			return
		}
		for i := range v.NumField() {
			walk(path+"."+v.Type().Field(i).Name, v.Field(i), visit)
		}
	case reflect.Slice:
		if v.Cap() > 0 && v.Type().Elem().Size() > 0 {
			visit(path, v.Pointer())
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			walk(fmt.Sprintf("%s[%d]", path, i), v.Index(i), visit)
		}
	case reflect.Map:
		if !v.IsNil() {
			visit(path, v.Pointer())
		}
		for _, key := range v.MapKeys() {
			walk(fmt.Sprintf("%s[%v]", path, key), v.MapIndex(key), visit)
		}
	}
}
