package ownership

import (
	"reflect"
	"strings"

	"apigen.dev/runtime/internal/object/omission"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// goValue is the value of a Go struct. of is that struct, and sent is what it remembers of what a client sent.
type goValue struct {
	value.Value
	of   reflect.Value
	sent *omission.SentZeros
}

// differing returns two values without the members that are equal in both, which a comparison need not look into: most
// writes change one of metadata, spec and status. It returns values as they are that aren't of one Go type.
func differing(before, after *typed.TypedValue) (_, _ *typed.TypedValue) {
	b, isGo := before.AsValue().(*goValue)
	a, both := after.AsValue().(*goValue)
	if !isGo || !both || a.of.Type() != b.of.Type() {
		return before, after
	}
	equal := map[string]bool{}
	for i := range a.of.NumField() {
		f := a.of.Type().Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && name != "" && name != "-" && equalFields(a.of.Field(i), b.of.Field(i)) &&
			reflect.DeepEqual(a.sent.At(name), b.sent.At(name)) {
			equal[name] = true
		}
	}
	return without(before, equal), without(after, equal)
}

// equalFields compares fields of structs, without a copy of them.
func equalFields(a, b reflect.Value) bool {
	return reflect.DeepEqual(a.Addr().Interface(), b.Addr().Interface())
}

func without(v *typed.TypedValue, names map[string]bool) *typed.TypedValue {
	//nolint:staticcheck // a part of what is valid needs no validation
	return typed.AsTypedUnvalidated(&partValue{v.AsValue(), names}, v.Schema(), v.TypeRef())
}

// partValue is a value whose map leaves out members when it is zipped, which is how values are compared.
type partValue struct {
	value.Value
	omitted map[string]bool
}

func (v *partValue) AsMap() value.Map { return v.AsMapUsing(value.HeapAllocator) }

func (v *partValue) AsMapUsing(a value.Allocator) value.Map {
	return &partMap{v.Value.AsMapUsing(a), v.omitted}
}

type partMap struct {
	value.Map
	omitted map[string]bool
}

func (m *partMap) Zip(other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	return m.ZipUsing(value.HeapAllocator, other, order, visit)
}

func (m *partMap) ZipUsing(a value.Allocator, other value.Map, order value.MapTraverseOrder,
	visit func(key string, lhs, rhs value.Value) bool) bool {
	if part, ok := other.(*partMap); ok {
		other = part.Map
	}
	return m.Map.ZipUsing(a, other, order, func(key string, lhs, rhs value.Value) bool {
		return m.omitted[key] || visit(key, lhs, rhs)
	})
}
