package patch

import (
	goencoding "encoding"
	"encoding/json"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// Rules say how a strategic merge patch merges the values of a Go type, by the tags of its fields, as
// strategicpatch.PatchMetaFromStruct does. They also know types that k8s.io/api doesn't have: maps of maps, lists of
// lists, pointers to pointers, and embedded pointers. A value whose JSON is its own has no rules, as the zero Rules:
// objects in it are merged, and lists replaced.
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

// Name implements strategicpatch.LookupPatchMeta.
func (r Rules) Name() string {
	if r.of == nil {
		return "any value"
	}
	return r.of.Kind().String()
}

// LookupPatchMetadataForStruct implements strategicpatch.LookupPatchMeta: it returns the rules of a member.
func (r Rules) LookupPatchMetadataForStruct(name string) (
	strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	rules, meta, err := r.member(name)
	return rules, meta, err
}

// LookupPatchMetadataForSlice implements strategicpatch.LookupPatchMeta: it returns the rules of a member's elements.
func (r Rules) LookupPatchMetadataForSlice(name string) (
	strategicpatch.LookupPatchMeta, strategicpatch.PatchMeta, error) {
	rules, meta, err := r.member(name)
	if err != nil {
		return nil, meta, err
	}
	return rules.elements(), meta, nil
}

func (r Rules) elements() Rules {
	if r.of != nil && (r.of.Kind() == reflect.Slice || r.of.Kind() == reflect.Array) {
		return RulesOf(r.of.Elem())
	}
	return Rules{}
}

func (r Rules) member(name string) (rules Rules, meta strategicpatch.PatchMeta, err error) {
	switch {
	case r.of == nil:
		return rules, meta, nil
	case r.of.Kind() == reflect.Map:
		return RulesOf(r.of.Elem()), meta, nil
	case r.of.Kind() != reflect.Struct:
		return rules, meta, nil
	}
	if f, ok := fieldBelowPointer(r.of, name); ok {
		meta.SetPatchStrategies(strings.Split(f.Tag.Get("patchStrategy"), ","))
		meta.SetPatchMergeKey(f.Tag.Get("patchMergeKey"))
		return RulesOf(f.Type), meta, nil
	}
	found, meta, err := strategicpatch.PatchMetaFromStruct{T: r.of}.LookupPatchMetadataForStruct(name)
	if err != nil {
		return rules, meta, err
	}
	return RulesOf(found.(strategicpatch.PatchMetaFromStruct).T), meta, nil
}

// fieldBelowPointer returns a field that a struct has of an embedded pointer, below which the library panics.
func fieldBelowPointer(t reflect.Type, name string) (found reflect.StructField, ok bool) {
	for _, f := range reflect.VisibleFields(t) {
		if written(f) == name && (!ok || len(f.Index) < len(found.Index)) {
			found, ok = f, true
		}
	}
	if !ok {
		return found, false
	}
	for i := 1; i < len(found.Index); i++ {
		if t.FieldByIndex(found.Index[:i]).Type.Kind() == reflect.Pointer {
			return found, true
		}
	}
	return found, false
}

// written returns the name of a field in JSON.
func written(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return name
}
