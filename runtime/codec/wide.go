package codec

import (
	"errors"
	"math"
	"reflect"
	"strconv"
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

func checkNumbers(v reflect.Value, path string) (err error) {
	switch v.Kind() {
	case reflect.Uint, reflect.Uint64, reflect.Uintptr:
		if n := v.Uint(); n > math.MaxInt64 {
			err = errors.New(path + ": " + strconv.FormatUint(n, 10) + " is above " +
				strconv.Itoa(math.MaxInt64) + ", the largest whole number of the API")
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			err = checkNumbers(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		for i := 0; i < v.Len() && err == nil && v.Type().Elem().Kind() != reflect.Uint8; i++ {
			err = checkNumbers(v.Index(i), path+"["+strconv.Itoa(i)+"]")
		}
	case reflect.Map:
		for members := v.MapRange(); err == nil && members.Next(); {
			err = checkNumbers(members.Value(), path+"["+members.Key().String()+"]")
		}
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "-" || !f.IsExported() {
				continue
			}
			if name == "" && !f.Anonymous {
				name = f.Name
			}
			if path != "" && name != "" {
				name = "." + name
			}
			err = checkNumbers(v.Field(i), path+name)
		}
	}
	return err
}
