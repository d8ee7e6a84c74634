package validation

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
	"apigen.dev/generator/plan/check"
)

// warnings report rules that clients read in the schema and that no server checks, since the JSON of the value isn't
// what its Go type says. Only users with a server are warned.
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

func warn(out *diag.Errors, t *model.Type, s *model.Schema, name string) {
	at := t.Pointee()
	for i := range s.Rules {
		if r := &s.Rules[i]; at != nil && check.Unchecked(r, at) {
			out.Add(r.Pos, "marker \"+%s\" of %s is in the schema, and the server does not check it: the JSON of %s "+
				"is its own", r.Marker, name, at.Name)
		}
	}
}
