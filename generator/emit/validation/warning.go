package validation

import (
	"slices"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// warnings name the rules that clients read in the schema and that no server checks: those in CEL, and those about JSON
// that isn't what Go's types say. Only users with a server are warned.
func warnings(program *plan.Plan) []diag.Error {
	var out diag.Errors
	for _, group := range program.Wired() {
		for _, v := range group.ServedVersions() {
			if !program.Writes(v.Package) {
				continue
			}
			for _, t := range v.Package.Types {
				warn(&out, t, &t.Schema, t.Name)
				for _, f := range t.Fields {
					warn(&out, f.Type, &f.Schema, t.Name+"."+f.Name)
				}
			}
		}
	}
	return out
}

// values are the checks that look at a value alone.
var values = []model.Check{
	model.Minimum, model.Maximum, model.MultipleOf, model.MinLength, model.MaxLength, model.MaxBytes, model.Pattern,
	model.MinItems, model.MaxItems, model.MinProperties, model.MaxProperties,
}

func warn(out *diag.Errors, t *model.Type, s *model.Schema, name string) {
	at := t.Pointee()
	for i := range s.Rules {
		r := &s.Rules[i]
		if at != nil && slices.Contains(values, r.Check) && !applies(r, at) && !vacuous(r, at) {
			out.Add(r.Pos, "marker \"+%s\" of %s is in the schema, and the server does not check it: the JSON of %s "+
				"is its own", r.Marker, name, at.Name)
		}
	}
}
