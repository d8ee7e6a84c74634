package check

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// Faults keep the functions from being written: conflicts, and values whose types the package can't name. elsewhere
// reports whether another package has the function that checks values of a type.
func (g *Functions) Faults(elsewhere func(*model.Type) bool) diag.Errors {
	j := &checkedValues{Functions: g, elsewhere: elsewhere, faults: g.Conflicts(), judged: map[*model.Type]bool{}}
	for _, t := range g.Generated() {
		j.value(t, t.Pos)
	}
	return j.faults
}

// checkedValues finds the values that are checked, and whose types the package can't name.
type checkedValues struct {
	*Functions
	elsewhere func(*model.Type) bool
	faults    diag.Errors
	judged    map[*model.Type]bool
}

// value judges a value that is checked. The position is that of the field of the package that leads to it.
func (j *checkedValues) value(t *model.Type, pos model.Position) {
	if part, at := model.Unnameable(j.pkg, t.Pointee()); part != nil {
		if j.pkg.Holds(at) {
			pos = at
		}
		if part.Name == "" {
			j.faults.Add(pos, "package %s can't name this type: declare it as a named type", j.pkg.Path)
		} else {
			j.faults.Add(pos, "package %s can't name %s, whose values it would check: export the type, or mark this "+
				"field +k8s:opaqueType", j.pkg.Path, model.TypeText(part))
		}
		return
	}
	if j.judged[t] || !j.Reaches(t) || t.Name != "" && j.elsewhere(t) {
		return
	}
	j.judged[t] = true
	switch t.Form {
	case model.Pointer, model.Slice, model.Array:
		j.element(t.Elem, pos)
	case model.Map:
		j.element(t.Key, pos)
		j.element(t.Elem, pos)
	case model.Struct:
		for _, f := range t.Fields {
			at := pos
			if j.pkg.Holds(f.Pos) {
				at = f.Pos
			}
			if Accessible(j.pkg, t, f) && j.NamesType(f) {
				j.value(f.Type, at)
			}
		}
	}
}

func (j *checkedValues) element(t *model.Type, pos model.Position) {
	if j.Reaches(t) {
		j.value(t, pos)
	}
}
