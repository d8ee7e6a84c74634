package codec

import (
	"fmt"
	"math"
	"reflect"
	"strings"
)

// isWide reports whether a type has values that int64 can't hold.
func isWide(t reflect.Type) bool {
	return t.Kind() == reflect.Uint || t.Kind() == reflect.Uint64 || t.Kind() == reflect.Uintptr
}

// checkNumbers returns an error for a number that int64 can't hold. Field ownership, patches and admission read objects
// without their Go types, where larger numbers lose digits.
func (c *typed[T, V]) checkNumbers(obj V) error {
	if !c.wide() {
		return nil
	}
	return checkNumbers(reflect.ValueOf(obj), "")
}

func checkNumbers(v reflect.Value, path string) error {
	switch v.Kind() {
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		if v.Uint() > math.MaxInt64 {
			return fmt.Errorf("%s: %d is above %d, the largest whole number of the API", strings.TrimPrefix(path, "."),
				v.Uint(), int64(math.MaxInt64))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return checkNumbers(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			if err := checkNumbers(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for members := v.MapRange(); members.Next(); {
			if err := checkNumbers(members.Value(), fmt.Sprintf("%s[%v]", path, members.Key())); err != nil {
				return err
			}
		}
	case reflect.Struct:
		return checkFields(v, path)
	}
	return nil
}

func checkFields(v reflect.Value, path string) error {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() {
			continue
		}
		at := path
		switch {
		case name != "":
			at += "." + name
		case !f.Anonymous:
			at += "." + f.Name
		}
		if err := checkNumbers(v.Field(i), at); err != nil {
			return err
		}
	}
	return nil
}
