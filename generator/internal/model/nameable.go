package model

import (
	"go/token"
	"path/filepath"
)

// Unnameable returns the part of a type that code of a package can't write, or nil if it can write the whole type: a
// type of another package that isn't exported; a struct without a name that has unexported fields of another package;
// and a func, a chan or an interface with methods without a name, whose signatures aren't known. The position is that
// of the innermost field of structs without a name that the part stands in; it is invalid if there is none.
func Unnameable(in *Package, t *Type) (part *Type, at Position) {
	switch {
	case t.Name != "" && t.Package != nil && t.Package.Path != in.Path && !token.IsExported(t.Name):
		return t, at
	case t.Name != "":
		return firstUnnameable(in, t.TypeArgs...)
	}
	switch t.Form {
	case Basic, UnsafePointer:
		return nil, at
	case Pointer, Slice, Array:
		return Unnameable(in, t.Elem)
	case Map:
		return firstUnnameable(in, t.Key, t.Elem)
	case Struct:
		for _, f := range t.Fields {
			if !f.Exported && f.Pos.IsValid() && !in.Holds(f.Pos) {
				return t, f.Pos
			}
			if part, at = Unnameable(in, f.Type); part != nil {
				if !at.IsValid() {
					at = f.Pos
				}
				return part, at
			}
		}
		return nil, at
	case Interface:
		if len(t.InterfaceMethods) == 0 {
			return nil, at
		}
	}
	return t, at
}

// Holds reports whether a position is in a file of the package.
func (p *Package) Holds(at Position) bool {
	return at.IsValid() && filepath.Dir(at.Filename) == p.Dir
}

func firstUnnameable(in *Package, types ...*Type) (part *Type, at Position) {
	for _, t := range types {
		if part, at = Unnameable(in, t); part != nil {
			break
		}
	}
	return part, at
}
