package openapi

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// Applied returns the schemas of the kinds that clients apply.
func Applied(p *plan.Plan) plan.AppliedSchemas {
	out := plan.AppliedSchemas{
		Components: map[*model.Version]map[string]map[string]any{},
		Names:      map[*model.Type]string{}, SchemeNames: map[*model.Type]string{},
	}
	var errs diag.Errors
	for _, c := range p.Clients {
		if !p.Writes(c.Marked) {
			continue
		}
		for _, g := range c.Groups {
			for _, v := range g.Versions {
				var kinds []*model.Type
				for _, t := range v.Kinds {
					if client := t.Kind.Client; client != nil && (client.Has("apply") || client.Has("applyStatus")) {
						kinds = append(kinds, t)
						out.Names[t], out.SchemeNames[t] = Name(t), schemeName(t)
					}
				}
				out.Components[v] = components(p.Program, g, v, kinds, &errs)
			}
		}
	}
	out.Err = errs.Err()
	return out
}

// components returns the schemas of kinds of one version, and all schemas that they refer to, by name, as in the
// version's document.
func components(
	p *model.Program, g *model.Group, v *model.Version, kinds []*model.Type, errs *diag.Errors,
) map[string]object {
	b := newBuilder(p, g, v, errs)
	for _, t := range kinds {
		b.ref(t)
	}
	return b.components()
}

// schemeName returns the name under which a scheme of apimachinery looks up the schema of a registered type: that of
// Name, if the type has a method OpenAPIModelName that returns it, else the name made of its import path.
func schemeName(t *model.Type) string {
	if t.Methods["OpenAPIModelName"] != nil {
		return Name(t)
	}
	return restful(t.Package.Path) + "." + t.Name
}
