package crd

import (
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// scale returns the subresource scale of a kind with a schema. A cluster reads the selector as a string, and refuses
// every object with another value there: the path of a LabelSelector or a map is left out.
func scale(s *model.Scale, schema object) object {
	out := object{"specReplicasPath": s.SpecPath, "statusReplicasPath": s.StatusPath}
	if typeAt(schema, s.SelectorSteps) != "object" {
		text(out, "labelSelectorPath", s.SelectorPath)
	}
	return out
}

// scaleSelector remarks on a selector that the definition leaves out.
func (b *builder) scaleSelector(out *diag.Errors, r resource, v model.ResourceVersion) {
	s := v.Type.Kind.Scale
	if s != nil && s.SelectorPath != "" && typeAt(b.root(v.Type), s.SelectorSteps) == "object" {
		out.Add(s.Pos, cannot+"selectorpath=%s of %s, which leads to an object: a cluster reads a string there, so it "+
			"is left out", s.SelectorPath, r.Kind)
	}
}

// typeAt returns the type of the values to which steps lead from an object, or "" if the schema doesn't say it.
func typeAt(schema object, steps []model.Step) string {
	if len(steps) == 0 {
		return ""
	}
	for _, step := range steps {
		switch {
		case step.Field == nil:
			schema, _ = schema["additionalProperties"].(object)
		case !step.Field.Inline:
			properties, _ := schema["properties"].(object)
			schema, _ = properties[step.Field.JSON].(object)
		}
	}
	name, _ := schema["type"].(string)
	return name
}
