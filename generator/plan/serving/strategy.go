package serving

import (
	"slices"

	"apigen.dev/generator/model"
)

// strategyMarkers are the fields of a Strategy that markers of a kind set.
var strategyMarkers = []struct {
	field string
	set   func(*model.Kind) bool
}{
	{"AllowCreateOnUpdate", func(k *model.Kind) bool { return k.CreateOnUpdate }},
	{"RequireVersionOnUpdate", func(k *model.Kind) bool { return k.RequireResourceVersion }},
	{"ReturnDeletedObject", func(k *model.Kind) bool { return k.ReturnDeletedObject }},
}

// strategy returns the fields of the Strategy that are true, besides hooks: those that any version of the kind or its
// hub is marked for, and NoGeneration.
func strategy(r *model.Resource) []string {
	types := []*model.Type{r.Hub}
	for _, v := range r.Versions {
		types = append(types, v.Type)
	}
	var out []string
	for _, m := range strategyMarkers {
		if slices.ContainsFunc(types, func(t *model.Type) bool { return t.Kind != nil && m.set(t.Kind) }) {
			out = append(out, m.field)
		}
	}
	if r.Verbs == nil && !counted(types) {
		out = append(out, "NoGeneration")
	}
	return out
}

// counted tells whether objects have a generation: where a marker says so, or none says that they have none and there
// is a spec whose changes are counted.
func counted(types []*model.Type) bool {
	spec := false
	for _, t := range types {
		if t.Kind != nil && t.Kind.Generation != nil {
			return *t.Kind.Generation
		}
		spec = spec || slices.ContainsFunc(t.Fields, func(f *model.Field) bool {
			return f.JSON == "spec" || f.Name == "Spec"
		})
	}
	return spec
}
