package judge

import (
	"fmt"

	"apigen.dev/generator/model"
)

// Defaults judges whether the defaults of types and of their fields are values of these, wherever a type comes from.
func Defaults(types []*model.Type) []Finding {
	r := &referee{}
	for _, t := range types {
		r.in = t.Package
		r.value(t.Default, t, Omission{DefaultOfType: t})
		r.values(t, map[*model.Type]bool{})
	}
	return r.findings
}

// values judges the defaults of the fields of a struct, and of those without a name in it.
func (r *referee) values(t *model.Type, seen map[*model.Type]bool) {
	for _, f := range t.Fields {
		r.value(f.Default, f.Type, Omission{DefaultOfField: f})
		for inner := f.Type; inner != nil && inner.Name == "" && !seen[inner]; inner = inner.Elem {
			seen[inner] = true
			r.values(inner, seen)
		}
	}
}

// value judges one default. Of a type parameter nothing is known.
func (r *referee) value(d *model.Default, t *model.Type, without Omission) {
	if d == nil || t.Pointee().Form == model.TypeParam {
		return
	}
	if err := d.Mismatch(t); err != nil {
		r.add(Fault, without, d.Pos, fmt.Sprint(err))
	}
}
