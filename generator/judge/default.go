package judge

import (
	"fmt"

	"apigen.dev/generator/model"
)

// Defaults judges whether the defaults of types and of their fields are values of these, wherever a type comes from.
func Defaults(types []*model.Type) []Finding {
	r := &checker{}
	for _, t := range types {
		r.in = t.Package
		r.value(t.Default, t, Omission{DefaultOfType: t})
		for part := range t.WithAnonymous() {
			for _, f := range part.Fields {
				r.value(f.Default, f.Type, Omission{DefaultOfField: f})
			}
		}
	}
	return r.findings
}

// value judges one default. It accepts any default of a type parameter.
func (r *checker) value(d *model.Default, t *model.Type, without Omission) {
	if d == nil || t.Pointee().Form == model.TypeParam {
		return
	}
	if err := d.Mismatch(t); err != nil {
		r.add(Fault, without, d.Pos, fmt.Sprint(err))
	}
}
