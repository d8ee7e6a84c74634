package patch

import (
	goencoding "encoding"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	forkedjson "k8s.io/apimachinery/third_party/forked/golang/json"
)

// Rules say how a strategic merge patch merges the values of a Go type, by the tags patchStrategy and patchMergeKey of
// its fields. Beside the types that k8s.io/api has, they know maps of maps, lists of lists, pointers to pointers, and
// embedded pointers. A value whose JSON is its own has no rules, as the zero Rules: objects in it are merged, and lists
// replaced.
type Rules struct{ of reflect.Type }

// RulesOf returns the rules of a Go type.
func RulesOf(t reflect.Type) Rules {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || writesItself(t) {
		return Rules{}
	}
	return Rules{t}
}

func writesItself(t reflect.Type) bool {
	pointer := reflect.PointerTo(t)
	return pointer.Implements(reflect.TypeFor[json.Marshaler]()) ||
		pointer.Implements(reflect.TypeFor[goencoding.TextMarshaler]())
}

func (r Rules) String() string {
	if r.of == nil {
		return "any value"
	}
	return r.of.Kind().String()
}

// strategy is what the tags of a field say.
type strategy struct {
	// merge reports whether the items of a list are merged with those of the object, replace whether an object takes
	// the place of the other.
	merge, replace bool
	// key is the member that identifies the items of a list that is merged; "" if they are scalars.
	key string
}

// member returns the rules of a member of an object, and its strategy.
func (r Rules) member(name string) (rules Rules, s strategy, err error) {
	switch {
	case r.of == nil:
		return rules, s, nil
	case r.of.Kind() == reflect.Map:
		return RulesOf(r.of.Elem()), s, nil
	case r.of.Kind() != reflect.Struct:
		return rules, s, nil
	}
	var t reflect.Type
	var strategies []string
	var key string
	if f, ok := fieldBelowPointer(r.of, name); ok {
		t, strategies, key = f.Type, strings.Split(f.Tag.Get("patchStrategy"), ","), f.Tag.Get("patchMergeKey")
	} else if t, strategies, key, err = forkedjson.LookupPatchMetadataForStruct(r.of, name); err != nil {
		return rules, s, err
	}
	s, err = strategyOf(strategies)
	s.key = key
	return RulesOf(t), s, err
}

// items returns the rules of the items of a member that is a list.
func (r Rules) items(name string) (Rules, strategy, error) {
	rules, s, err := r.member(name)
	switch {
	case err != nil || rules.of == nil || rules.of.Kind() == reflect.Interface:
		return Rules{}, s, err
	case rules.of.Kind() != reflect.Slice && rules.of.Kind() != reflect.Array:
		return Rules{}, s, fmt.Errorf("expected slice or array type, but got: %s", r)
	}
	return RulesOf(rules.of.Elem()), s, nil
}

// strategyOf reads the tag patchStrategy: one strategy, and perhaps retainKeys, which concerns clients alone.
func strategyOf(words []string) (s strategy, err error) {
	others := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return word == "retainKeys" })
	if len(others) > 1 || len(words) > 2 {
		return s, fmt.Errorf("unexpected patch strategy: %v", words)
	}
	for _, word := range others {
		s.merge, s.replace = word == "merge", word == "replace"
	}
	return s, nil
}

// fieldBelowPointer returns a field that a struct has of an embedded pointer, below which the library panics.
func fieldBelowPointer(t reflect.Type, name string) (found reflect.StructField, ok bool) {
	fields, known := belowPointers.Load(t)
	if !known {
		fields, _ = belowPointers.LoadOrStore(t, fieldsBelowPointers(t))
	}
	found, ok = fields.(map[string]reflect.StructField)[name]
	return found, ok
}

// belowPointers has the fieldsBelowPointers of each struct that was patched.
var belowPointers sync.Map

// fieldsBelowPointers returns the fields that a struct has of embedded pointers, by their names in JSON.
func fieldsBelowPointers(t reflect.Type) map[string]reflect.StructField {
	nearest := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		if other, ok := nearest[written(f)]; !ok || len(f.Index) < len(other.Index) {
			nearest[written(f)] = f
		}
	}
	maps.DeleteFunc(nearest, func(_ string, f reflect.StructField) bool {
		for i := 1; i < len(f.Index); i++ {
			if t.FieldByIndex(f.Index[:i]).Type.Kind() == reflect.Pointer {
				return false
			}
		}
		return true
	})
	return nearest
}

// written returns the name of a field in JSON.
func written(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return name
}
