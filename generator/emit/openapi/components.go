package openapi

import (
	"maps"
	"slices"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// Components returns the schemas of kinds of one version and of all that they refer to, by name, as they stand in the
// version's document. They are the caller's.
func Components(p *model.Program, g *model.Group, v *model.Version, kinds []*model.Type) (map[string]map[string]any,
	error) {
	var errs emit.Errors
	b := newBuilder(p, g, v, &errs)
	for _, t := range kinds {
		b.ref(t)
	}
	all := b.components()
	out := make(map[string]map[string]any, len(all))
	for _, name := range slices.Collect(maps.Keys(all)) {
		if s, ok := all[name].(object); ok {
			out[name] = s
		}
	}
	return out, errs.Err()
}

// SchemeName is the name by which a scheme of apimachinery looks for the schema of a registered type: Name's, where the
// type says so with a method OpenAPIModelName, else the one of its import path.
func SchemeName(t *model.Type) string {
	if t.Methods["OpenAPIModelName"] != nil {
		return Name(t)
	}
	return restful(t.Package.Path) + "." + t.Name
}
