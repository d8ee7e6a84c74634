package openapi

import (
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// layers adds the constraints of all layers of a type: nearer layers override the others.
func (b *builder) layers(s object, t *schema.Type) {
	for _, layer := range slices.Backward(t.Layers) {
		b.constrain(s, layer.Schema)
	}
}

func (b *builder) constrain(s object, c *model.Schema) {
	maps.Copy(s, schema.Keywords(c))
	if c.UniqueItems {
		s["uniqueItems"] = true
	}
	validations(s, c)
	b.elements(s, c.Items)
}

func (b *builder) elements(s object, c *model.Schema) {
	if c == nil {
		return
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if element, ok := s[key].(object); ok {
			extra := object{}
			b.constrain(extra, c)
			s[key] = overlay(replaceBase(element, c), extra)
			b.elements(element, c.Items)
		}
	}
}

func validations(s object, c *model.Schema) {
	rules, _ := s["x-kubernetes-validations"].([]any)
	rules = append(append(rules, counts(c.Rules)...), schema.Validations(c)...)
	if len(rules) > 0 {
		s["x-kubernetes-validations"] = rules
	}
}

func counts(rules []model.Rule) []any {
	var out []any
	for i := range rules {
		r := &rules[i]
		if r.Check != model.OneOf {
			continue
		}
		var has []string
		for _, name := range r.Values {
			has = append(has, "has(self."+name+")")
		}
		bound := "== 1"
		switch {
		case r.Most < 0:
			bound = ">= 1"
		case r.Least == 0:
			bound = "<= 1"
		}
		rule := "[" + strings.Join(has, ",") + "].filter(x,x==true).size() " + bound
		out = append(out, object{"rule": rule, "message": schema.OneOfMessage(r)})
	}
	return out
}

func text(s object, key, value string) {
	if value != "" {
		s[key] = value
	}
}
