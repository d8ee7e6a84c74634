package clientset

import (
	"go/token"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

// checkExported reports fields of kinds with clients whose types packages of clients can't name.
func (s *Set) checkExported(errs *diag.Errors) {
	passed := map[*model.Type]bool{}
	for _, v := range s.Versions() {
		for _, k := range v.Kinds {
			s.exported(k.Type, passed, errs)
		}
	}
}

func (s *Set) exported(t *model.Type, passed map[*model.Type]bool, errs *diag.Errors) {
	of := func(v *Version) bool { return t.Package == v.Package }
	if passed[t] || t.Package != nil && !slices.ContainsFunc(s.Versions(), of) {
		return // clients use types of other packages as they are
	}
	passed[t] = true
	for _, f := range t.Fields {
		if f.Ignored {
			continue
		}
		for _, inner := range namedIn(f.Type) {
			if inner.Package != nil && !token.IsExported(inner.Name) {
				has := "." + f.Name + " has the type "
				if f.Embedded {
					has = " embeds "
				}
				errs.Add(f.Pos, "%s%s%s, which is not exported, and generated clients are packages of their own: call "+
					"it %s", t.Name, has, inner.Name, spelling.UpperFirst(inner.Name))
			}
			s.exported(inner, passed, errs)
		}
	}
}

// namedIn returns the types with a name, and the structs without one, of which a type is made.
func namedIn(t *model.Type) []*model.Type {
	switch {
	case t == nil:
		return nil
	case t.Package != nil || t.Form == model.Struct:
		return []*model.Type{t}
	}
	return append(namedIn(t.Key), namedIn(t.Elem)...)
}
