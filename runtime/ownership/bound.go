package ownership

import (
	"errors"
	"reflect"

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
		for i := range v.NumField() {
			if f := v.Field(i); f.CanInterface() && holds(f.Kind()) {
				done = work(f, done)
			}
		}
	case reflect.Map:
		n := int64(v.Len())
		done += n * n
		if holds(v.Type().Elem().Kind()) {
			for members := v.MapRange(); members.Next() && done <= maxWork; {
				done = work(members.Value(), done)
			}
		}
	case reflect.Slice, reflect.Array:
		n := int64(v.Len())
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return done
		}
		done += n * n * listWork
		if holds(v.Type().Elem().Kind()) {
			for i := 0; i < v.Len() && done <= maxWork; i++ {
				done = work(v.Index(i), done)
			}
		}
	}
	return done
}

// holds tells whether values of a kind may have lists or maps in them.
func holds(kind reflect.Kind) bool {
	switch kind {
	case reflect.Pointer, reflect.Interface, reflect.Struct, reflect.Map, reflect.Slice, reflect.Array:
		return true
	}
	return false
}

// tooMuchSent tells whether a client sent more managedFields than servers write. The server doesn't read them.
func tooMuchSent(entries []metav1.ManagedFieldsEntry) bool {
	size := 0
	for i := range entries {
		if fields := entries[i].FieldsV1; fields != nil {
			size += len(fields.GetRawString())
		}
	}
	return len(entries) > maxSent || size > maxSentBytes
}
