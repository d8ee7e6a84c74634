package model

import (
	"slices"
	"strings"
)

// IsNamed tells a type by its package and name.
func IsNamed(t *Type, path string, names ...string) bool {
	return t.Package != nil && t.Package.Path == path && slices.Contains(names, t.Name)
}

// FieldNamed returns the field of that name, or nil.
func FieldNamed(t *Type, name string) *Field {
	for _, f := range t.Fields {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// TypeText is a type as Go writes it.
func TypeText(t *Type) string {
	switch {
	case t.Package != nil:
		return t.Package.Name + "." + t.Name
	case t.Form == Basic:
		return t.Basic
	case t.Form == Pointer:
		return "*" + TypeText(t.Elem)
	case t.Form == Slice:
		return "[]" + TypeText(t.Elem)
	case t.Form == Map:
		return "map[" + TypeText(t.Key) + "]" + TypeText(t.Elem)
	case t.Form == Interface && len(t.InterfaceMethods) == 0:
		return "any"
	case t.Name != "":
		return t.Name
	}
	return "a composite type"
}

// Counterpart is the field of the other type that the field is: the one that +apigen:conversion:name names, on
// whichever of the two it stands, else that of the same name. Nil where there is none.
func Counterpart(other *Type, f *Field) *Field {
	if f.ConversionName != "" {
		return FieldNamed(other, f.ConversionName)
	}
	for _, g := range other.Fields {
		if g.ConversionName == f.Name {
			return g
		}
	}
	if g := FieldNamed(other, f.Name); g != nil && g.ConversionName == "" {
		return g
	}
	return nil
}

// IsString tells whether the type's values are strings.
func IsString(t *Type) bool { return t.Form == Basic && t.Basic == "string" }

// IsBool tells whether the type's values are booleans.
func IsBool(t *Type) bool { return t.Form == Basic && t.Basic == "bool" }

// IsInteger tells whether the type's values are whole numbers.
func IsInteger(t *Type) bool {
	return t.Form == Basic && (strings.HasPrefix(t.Basic, "int") || strings.HasPrefix(t.Basic, "uint") ||
		t.Basic == "byte" || t.Basic == "rune")
}
