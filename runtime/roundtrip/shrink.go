package roundtrip

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// fault is a property that an object doesn't have, and the smallest such object.
type fault struct {
	check    string
	object   any
	why      difference
	attempts int
	// remedy says what else than mending the code helps; "" if nothing does.
	remedy string
}

// patience bounds how many smaller objects are tried.
const patience = 5000

// examine returns the first fault of an object, with the smallest object that has it.
func examine[T runtime.Object](object T, checks []check[T]) *fault {
	for _, c := range checks {
		if c.run(object).found() {
			small, attempts := shrink(object, func(smaller T) bool { return c.run(smaller).found() })
			return &fault{check: c.name, object: small, why: c.run(small), attempts: attempts, remedy: c.remedy}
		}
	}
	return nil
}

func (f *fault) report() string {
	text, err := yaml.Marshal(plain(reflect.ValueOf(f.object)))
	if err != nil {
		text = fmt.Appendf(nil, "%+v\n", f.object)
	}
	at := ""
	if f.why.path != "" {
		at = f.why.path + ": "
	}
	return fmt.Sprintf("%s: %s%s%s\nthe smallest object that shows it (%d were tried):\n  %s", f.summary(), at,
		f.why.text, f.remedy, f.attempts,
		strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n  "))
}

// summary is the same for all faults of a field.
func (f *fault) summary() string {
	s := fmt.Sprintf("%T doesn't survive %s", f.object, f.check)
	if field, _, _ := strings.Cut(f.why.path, "["); field != "" {
		s += ", at " + field
	}
	return s
}

// plain returns a value as a person reads it: without empty parts, whatever its tags say.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return nil
		}
		return plain(v.Elem())
	case reflect.Struct:
		if v.CanAddr() && writesJSON(v) || opaque(v.Type()) {
			return v.Interface()
		}
		out := map[string]any{}
		for i := range v.NumField() {
			field := v.Type().Field(i)
			if v.Field(i).IsZero() {
				continue
			}
			value, name := plain(v.Field(i)), join("", field)
			if inlined, ok := value.(map[string]any); ok && name == "" {
				maps.Copy(out, inlined)
				continue
			}
			out[cmp.Or(name, field.Name)] = value
		}
		return out
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return v.Interface()
		}
		out := make([]any, v.Len())
		for i := range v.Len() {
			out[i] = plain(v.Index(i))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for _, key := range v.MapKeys() {
			out[fmt.Sprint(key)] = plain(v.MapIndex(key))
		}
		return out
	}
	return v.Interface()
}

// shrink empties one part of an object after the other, the largest first, as long as it still fails.
func shrink[T runtime.Object](object T, fails func(T) bool) (T, int) {
	attempts := 0
	for progress := true; progress && attempts < patience; {
		progress = false
		for n := 0; attempts < patience; attempts++ {
			smaller, skip := clone(object), n
			if !empty(reflect.ValueOf(smaller).Elem(), &skip) {
				break
			}
			if fails(smaller) {
				object, progress = smaller, true
			} else {
				n++
			}
		}
	}
	return object, attempts
}

// empty empties the nth part of a value that isn't empty yet, counted from the outside in, and reports whether there
// was such a part. It changes n. It empties no part of a value with its own JSON, which might not be able to express
// the result.
func empty(v reflect.Value, n *int) bool {
	switch v.Kind() {
	case reflect.Struct:
		if opaque(v.Type()) || v.CanAddr() && writesJSON(v) {
			return false
		}
		return emptyParts(v.NumField(), v.Field, n)
	case reflect.Pointer:
		return !v.IsNil() && empty(v.Elem(), n)
	case reflect.Slice:
		if v.Len() > 1 {
			for i := range v.Len() {
				if take(n) {
					v.Set(reflect.AppendSlice(v.Slice(0, i), v.Slice(i+1, v.Len())))
					return true
				}
			}
		}
		return emptyParts(v.Len(), v.Index, n)
	case reflect.Array:
		return emptyParts(v.Len(), v.Index, n)
	case reflect.Map:
		return emptyEntry(v, n)
	}
	return false
}

// emptyParts sets a part to zero, or something within a part. It tries all parts first.
func emptyParts(count int, part func(int) reflect.Value, n *int) bool {
	for i := range count {
		if p := part(i); p.CanSet() && !p.IsZero() && take(n) {
			p.SetZero()
			return true
		}
	}
	for i := range count {
		if p := part(i); p.CanSet() && empty(p, n) {
			return true
		}
	}
	return false
}

func emptyEntry(m reflect.Value, n *int) bool {
	keys := sortedKeys(m)
	for _, key := range keys {
		if len(keys) > 1 && take(n) {
			m.SetMapIndex(key, reflect.Value{})
			return true
		}
	}
	for _, key := range keys {
		value := reflect.New(m.Type().Elem()).Elem()
		value.Set(m.MapIndex(key))
		whole := !value.IsZero() && take(n)
		if whole {
			value.SetZero()
		}
		if whole || empty(value, n) {
			m.SetMapIndex(key, value)
			return true
		}
	}
	return false
}

// take counts down to the requested part.
func take(n *int) bool {
	*n--
	return *n < 0
}

// opaque reports whether a struct has state outside of its exported fields. Such a struct is copied, emptied and filled
// as a whole.
func opaque(t reflect.Type) bool {
	for i := range t.NumField() {
		if !t.Field(i).IsExported() {
			return true
		}
	}
	return false
}

// clone copies an object without calling the object's own functions, which are under test.
func clone[T any](object T) T {
	return cloned(reflect.ValueOf(object)).Interface().(T)
}

func cloned(v reflect.Value) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch kind := v.Kind(); {
	case kind == reflect.Interface && !v.IsNil():
		out.Set(cloned(v.Elem()))
		return out
	case kind == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(v.Elem())
	case kind == reflect.Slice && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		reflect.Copy(out, v)
	case kind == reflect.Map && !v.IsNil():
		out.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
		for _, key := range v.MapKeys() {
			out.SetMapIndex(key, v.MapIndex(key))
		}
	}
	parts("", out, func(_ string, part reflect.Value) { part.Set(cloned(part)) })
	return out
}
