package load

import (
	"encoding/json"
	"slices"
	"strings"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// elements holds the elements of a default against the rules for elements, and against the list's being a set.
func (r *referee) elements(d *model.Default, value any, t *model.Type, rules []model.Rule, name string) {
	list, ok := value.([]any)
	if !ok || t.Elem == nil {
		return
	}
	seen := map[string]bool{}
	set := slices.ContainsFunc(rules, func(r model.Rule) bool { return r.Check == model.Unique && r.Text == "set" })
	for _, v := range list {
		text, err := json.Marshal(v)
		if err != nil {
			continue
		}
		if set && seen[string(text)] {
			r.errorf(d.Pos, "default %s of %s has %s twice, and its elements are a set", d.JSON, name, text)
		}
		seen[string(text)] = true
	}
}

// itemRules are the rules that a default's elements keep: those for elements here, and those of the elements' type.
func itemRules(s *model.Schema, t *model.Type) []model.Rule {
	var out []model.Rule
	if s.Items != nil {
		out = append(out, s.Items.Rules...)
	}
	if e := t.Elem.Pointee(); e != nil && e.Name != "" {
		out = append(out, e.Schema.Rules...)
	}
	return out
}

// items holds the elements of a default against the rules for elements.
func (r *referee) items(d *model.Default, s *model.Schema, t *model.Type, name string) {
	var list []any
	decoder := json.NewDecoder(strings.NewReader(d.JSON))
	decoder.UseNumber()
	if t.Elem == nil || flexible(t.Elem.Pointee(), &model.Schema{}) || decoder.Decode(&list) != nil {
		return
	}
	rules := itemRules(s, t)
	for _, v := range list {
		for i := range rules {
			if message := violates(v, &rules[i], t.Elem.Pointee()); message != "" {
				text, _ := json.Marshal(v)
				r.errorf(d.Pos, "%s in the default of %s %s (+%s)", text, name, message, rules[i].Marker)
			}
		}
	}
}

// schemaTypes are those of OpenAPI; Any is controller-gen's word for none.
var schemaTypes = []string{"array", "boolean", "integer", "number", "object", "string"}

// schemaType reports a type that no schema can have, where it is nearly one that it can.
func (r *referee) schemaType(s *model.Schema, pos model.Position, name string) {
	if s.Type == "" {
		return
	}
	word := marker.Unquote(s.Type)
	if word == "" || strings.EqualFold(word, "any") || slices.Contains(schemaTypes, word) {
		return
	}
	r.errorf(pos, "marker \"+%sType\": %q of %s is not one of %s", valuePrefix, word, name, strings.Join(schemaTypes, ", "))
}
