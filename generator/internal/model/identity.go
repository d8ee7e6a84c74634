package model

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// TypeKey is equal for identical types, and only for those.
func TypeKey(t *Type) string {
	if t.Package == nil || t.Name == "" {
		if t.Name != "" && t.Form != Basic {
			return t.Name // error
		}
		return shape(t, true)
	}
	key := t.Package.Path + "." + t.Name
	if len(t.TypeArgs) == 0 {
		return key
	}
	args := make([]string, len(t.TypeArgs))
	for i, a := range t.TypeArgs {
		args[i] = TypeKey(a)
	}
	return key + "[" + strings.Join(args, ",") + "]"
}

// shape is equal for types whose underlying types are identical. Without tags it is equal where Go converts one
// to the other.
func shape(t *Type, tags bool) string {
	switch t.Form {
	case Basic:
		return t.BasicName()
	case Pointer:
		return "*" + TypeKey(t.Elem)
	case Slice:
		return "[]" + TypeKey(t.Elem)
	case Array:
		return "[" + strconv.FormatInt(t.Len, 10) + "]" + TypeKey(t.Elem)
	case Map:
		return "map[" + TypeKey(t.Key) + "]" + TypeKey(t.Elem)
	case Struct:
		return structShape(t, tags)
	case Interface:
		if len(t.InterfaceMethods) == 0 {
			return "any"
		}
	case UnsafePointer:
		return "unsafe.Pointer"
	}
	return fmt.Sprintf("%p", t) // methods and signatures aren't known: identical only to itself
}

func structShape(t *Type, tags bool) string {
	var s strings.Builder
	s.WriteString("struct{")
	for _, f := range t.Fields {
		if f.Embedded {
			s.WriteString("=")
		}
		switch { // an unexported name is that of the package where it stands
		case f.Exported:
		case f.Pos.IsValid():
			s.WriteString(filepath.Dir(f.Pos.Filename) + ".")
		case t.Package != nil:
			s.WriteString(t.Package.Path + ".")
		}
		s.WriteString(f.Name + " " + TypeKey(f.Type))
		if tags {
			s.WriteString(strconv.Quote(f.Tag))
		}
		s.WriteString(";")
	}
	s.WriteString("}")
	return s.String()
}

// Identical reports whether Go takes the types for one.
func Identical(a, b *Type) bool { return a == b || TypeKey(a) == TypeKey(b) }

// Convertible reports whether Go converts a value of the one type to the other without any change of its memory.
func Convertible(a, b *Type) bool {
	if Identical(a, b) {
		return true
	}
	if a.Form != b.Form || a.Form == Interface || a.Form == Func_ || a.Form == Chan ||
		a.Form == TypeParam {
		return false
	}
	if a.Form == Pointer && a.Package == nil && b.Package == nil {
		return shape(a.Elem, false) == shape(b.Elem, false)
	}
	return shape(a, false) == shape(b, false)
}
