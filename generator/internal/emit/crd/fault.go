package crd

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// faults keep the definitions of a package from being written.
func faults(p *model.Program, pkg *model.Package) diag.Errors {
	var out diag.Errors
	resources := resourcesBelow(p, pkg)
	if len(resources) == 0 {
		out.Add(pkg.CRDs.Pos, "there is no kind below %s to write a CustomResourceDefinition of", pkg.Path)
	}
	types := schema.New(schema.CRD)
	j := recursion{out: &out, types: types, open: map[*schema.Type]bool{}, judged: map[*schema.Type]bool{}}
	for _, r := range resources {
		stored := func(v model.ResourceVersion) bool { return v.Version == r.storage }
		if !slices.ContainsFunc(r.versions, stored) {
			out.Add(r.versions[0].Type.Pos, "kind %s is stored in %s, which its CustomResourceDefinition doesn't "+
				"have: mark another version with +kubebuilder:storageversion", r.Kind, r.storage.Name)
		}
		for _, v := range r.versions {
			j.value(types.Type(v.Type), nil)
		}
	}
	return out
}

// recursion finds the types that contain themselves: a schema has everything in place, and would have no end.
type recursion struct {
	out          *diag.Errors
	types        *schema.Resolver
	open, judged map[*schema.Type]bool
}

// value judges the type of a field, or, where that is nil, of what a named type is made of.
func (j *recursion) value(t *schema.Type, at *model.Field) {
	switch {
	case !t.Named():
		j.inside(t, at)
	case j.open[t]:
		pos := t.Go.Pos
		if at != nil {
			pos = at.Pos
		}
		j.out.Add(pos, "%s contains itself here, which a CustomResourceDefinition can't express: mark the field "+
			"+kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields", t.Go.Name)
	case !j.judged[t] && t.Structural:
		j.open[t] = true
		if t.Go.Of != nil {
			j.value(j.types.Type(t.Go.Of), nil)
		} else {
			j.inside(t, nil)
		}
		delete(j.open, t)
		j.judged[t] = true
	}
}

// inside judges what a value is made of.
func (j *recursion) inside(t *schema.Type, at *model.Field) {
	switch {
	case t.JSON == schema.Pointer, t.Structural && (t.JSON == schema.List || t.JSON == schema.Map):
		j.value(t.Elem, at)
	case t.Structural && t.JSON == schema.Object:
		for _, f := range t.Fields {
			if !f.Go.Schema.Schemaless {
				j.value(f.Type, f.Go)
			}
		}
	}
}
