package ownership

import (
	"errors"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Field sets are sorted slices, so the time spent on an object grows with the square of the lengths of its lists and
// maps. These bounds keep it below a second or so, at lists of 6,000 items or maps of 38,000 members.
const (
	maxWork = 1_500_000_000
	// listWork is how much more an item of a list costs than a member of a map.
	listWork = 40
	// maxSent and maxSentBytes bound the managedFields that a client sends.
	maxSent      = 512
	maxSentBytes = 256 << 10
)

// ErrTooLong means that an object has lists or maps that are too long to keep managedFields for.
var ErrTooLong = errors.New("the lists or maps of the object are too long to keep managedFields for")

// Bound returns ErrTooLong for an object, typed or decoded JSON, whose lists or maps are too long.
func Bound(object any) error {
	if work(reflect.ValueOf(object), 0) > maxWork {
		return ErrTooLong
	}
	return nil
}

// work adds the cost of the lists and maps in a value to done. It stops once the sum is above maxWork.
func work(v reflect.Value, done int64) int64 {
	if done > maxWork {
		return done
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return work(v.Elem(), done)
		}
	case reflect.Struct:
		for _, i := range fieldsToVisit(v.Type()) {
			done = work(v.Field(i), done)
		}
	case reflect.Map:
		n := int64(v.Len())
		done += n * n
		if n > 0 && holds(v.Type().Elem()) {
			member := reflect.New(v.Type().Elem()).Elem() // a Value of each would be a copy of its own
			for members := v.MapRange(); members.Next() && done <= maxWork; {
				member.SetIterValue(members)
				done = work(member, done)
			}
		}
	case reflect.Slice, reflect.Array:
		n := int64(v.Len())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return done
		}
		done += n * n * listWork
		if holds(v.Type().Elem()) {
			for i := 0; i < v.Len() && done <= maxWork; i++ {
				done = work(v.Index(i), done)
			}
		}
	}
	return done
}

// holds reports whether values of a type may have lists or maps in them.
func holds(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return t.Elem().Kind() == reflect.Pointer || holds(t.Elem())
	case reflect.Interface, reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return true
	}
	return false
}

// visited are the fields to visit of each type of struct. Most fields of most structs are scalars.
var visited sync.Map

func fieldsToVisit(t reflect.Type) []int {
	if known, ok := visited.Load(t); ok {
		return known.([]int)
	}
	var fields []int
	for i := range t.NumField() {
		if f := t.Field(i); f.IsExported() && holds(f.Type) {
			fields = append(fields, i)
		}
	}
	visited.Store(t, fields)
	return fields
}

// tooMuchSent reports whether a client sent more managedFields than servers write. The server doesn't read them.
func tooMuchSent(entries []metav1.ManagedFieldsEntry) bool {
	size := 0
	for i := range entries {
		if fields := entries[i].FieldsV1; fields != nil {
			size += len(fields.GetRawString())
		}
	}
	return len(entries) > maxSent || size > maxSentBytes
}
