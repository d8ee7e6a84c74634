package deepcopy

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
)

type way uint8

const (
	inline    way = iota // field by field, in place
	callInto             // in.DeepCopyInto(&out)
	callValue            // out = in.DeepCopy()
	callDeref            // out = *in.DeepCopy()
)

// immutable are foreign types whose references never change what they refer to: assignment is a copy.
var immutable = map[string]bool{
	"time.Time": true, "unique.Handle": true, "net/netip.Addr": true, "net/netip.AddrPort": true,
	"net/netip.Prefix": true,
}

// reference tells the types whose zero value is nil and that methods of their own receive as they are.
func reference(t *model.Type) bool { return t.Form == model.Slice || t.Form == model.Map }

// methodsAllowed reports whether Go lets the named type have methods, and whether they can be of use.
func methodsAllowed(t *model.Type) bool {
	switch t.Form {
	case model.Struct, model.Slice, model.Map, model.Array:
		return t.Name != ""
	case model.Basic:
		return t.Name != "" && handWritten(t)
	}
	return false
}

func handWritten(t *model.Type) bool {
	return t.DeepCopy == model.DeepCopyExisting || t.DeepCopy == model.DeepCopyMethodOnly ||
		t.Methods["DeepCopyInto"] != nil || t.Methods["DeepCopy"] != nil
}

// generates reports whether DeepCopyInto and DeepCopy are emitted for the type, as far as they are not hand-written.
// The declaration of a generic type gets none: what a copy of its parameters is, only its instances know, and those are
// copied in place.
func generates(t *model.Type) bool {
	if !methodsAllowed(t) || len(t.TypeArgs) > 0 || generic(t, map[*model.Type]bool{}) {
		return false
	}
	return t.DeepCopy == model.DeepCopyGenerate
}

func generic(t *model.Type, seen map[*model.Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	if t.Form == model.TypeParam || generic(t.Elem, seen) || generic(t.Key, seen) {
		return true
	}
	for _, arg := range t.TypeArgs {
		if generic(arg, seen) {
			return true
		}
	}
	for _, field := range t.Fields {
		named := field.Type.Name != "" && len(field.Type.TypeArgs) == 0
		if (!named || field.Type.Form == model.TypeParam) && generic(field.Type, seen) {
			return true
		}
	}
	return false
}

// wayOf tells how a value of the type is copied. Promoted methods never count: Methods holds only a type's own.
func wayOf(t *model.Type) way {
	switch {
	case t.Name == "" || t.Form == model.Interface || t.Form == model.Pointer:
		return inline
	case t.DeepCopy == model.DeepCopyExisting || generates(t):
		return callInto
	case t.DeepCopy == model.DeepCopyMethodOnly && returnsPointer(t):
		return callDeref
	case t.DeepCopy == model.DeepCopyMethodOnly:
		return callValue
	}
	return inline
}

// returnsPointer tells what a hand-written DeepCopy returns. Where nothing is known but its receiver, as of foreign
// types, custom decides: a method of the pointer returns one.
func returnsPointer(t *model.Type) bool {
	method := t.Methods["DeepCopy"]
	switch {
	case method == nil:
		return !reference(t)
	case len(method.Results) > 0:
		return method.Results[0].Form == model.Pointer && method.Results[0].Name == ""
	}
	return method.PointerReceiver
}

type shapes map[*model.Type]bool

func (s shapes) plain(t *model.Type) bool {
	if known, ok := s[t]; ok {
		return known
	}
	s[t] = true // a cycle that meets no pointer, slice or map doesn't exist
	known := s.decide(t)
	s[t] = known
	return known
}

func (s shapes) decide(t *model.Type) bool {
	switch {
	case t.Package != nil && immutable[t.Package.Path+"."+t.Name]:
		return true
	case t.Name != "" && t.Form != model.Interface && handWritten(t):
		return false
	case isLock(t):
		return false
	}
	switch t.Form {
	case model.Basic:
		return true
	case model.Array:
		return s.plain(t.Elem) || t.Len == 0 && lockIn(t.Elem) == nil
	case model.Struct:
		for _, field := range t.Fields {
			if !s.plain(field.Type) && (field.Name != "_" || lockIn(field.Type) != nil) {
				return false
			}
		}
		return true
	}
	return false
}

// isLock tells the types that must stay where they are: those of sync and sync/atomic, and the markers by which others
// say so.
func isLock(t *model.Type) bool {
	if t.Package == nil || t.Form == model.Interface {
		return false
	}
	switch t.Package.Path {
	case "sync", "sync/atomic", "internal/sync":
		return t.Form == model.Struct
	}
	return strings.EqualFold(t.Name, "noCopy") || t.Name == "DoNotCopy"
}

func lockIn(t *model.Type) *model.Type { return lockWithin(t, nil) }

// lockWithin doesn't look into structs again on its way: one that holds itself doesn't compile, which is told
// elsewhere.
func lockWithin(t *model.Type, way []*model.Type) *model.Type {
	switch {
	case isLock(t):
		return t
	case t.Form == model.Array:
		return lockWithin(t.Elem, way)
	case t.Form != model.Struct || slices.Contains(way, t):
		return nil
	}
	way = append(way, t)
	for _, field := range t.Fields {
		if lock := lockWithin(field.Type, way); lock != nil {
			return lock
		}
	}
	return nil
}
