package judge

import (
	"encoding/json"
	"maps"
	"slices"

	"apigen.dev/generator/model"
)

// elements holds the elements of a default against the rules for elements, and against the list's being a set.
func (r *checker) elements(d *model.Default, value any, t *model.Type, rules []model.Rule, name string) {
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
			r.faultf(d.Pos, "default %s of %s has %s twice, and its elements are a set", d.JSON, name, text)
		}
		seen[string(text)] = true
	}
}

// itemRules returns the rules that a default's elements keep: those for elements here, and those of the elements' type.
func (r *checker) itemRules(s *model.Schema, t *model.Type) []model.Rule {
	var out []model.Rule
	if s.Items != nil {
		out = append(out, r.of(s.Items).Rules...)
	}
	if t.Name != "" && s != r.of(&t.Schema) && t.Schema.Items != nil {
		out = append(out, r.of(t.Schema.Items).Rules...)
	}
	if e := t.Elem.Pointee(); e != nil && e.Name != "" {
		out = append(out, r.of(&e.Schema).Rules...)
	}
	return out
}

// within holds what a default is made of against the rules for it: elements of lists, values of maps, members of
// objects.
func (r *checker) within(d *model.Default, value any, t *model.Type, s *model.Schema, name string) {
	switch v := value.(type) {
	case []any:
		if t.Elem != nil {
			for _, element := range v {
				r.part(d, element, t.Elem, partsOf(s), r.itemRules(s, t), name)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if t.Form == model.Map {
				r.part(d, v[key], t.Elem, partsOf(s), r.itemRules(s, t), name)
			} else if f := fieldNamed(t, key); f != nil {
				r.part(d, v[key], f.Type, &f.Schema, r.rulesOfField(f), name)
			}
		}
	}
}

// part holds a part of a default against the rules for it, and what it is made of itself.
func (r *checker) part(d *model.Default, value any, t *model.Type, s *model.Schema, rules []model.Rule, name string) {
	at := t.Pointee()
	if flexible(at, s) {
		return
	}
	for i := range rules {
		if message := violates(value, &rules[i], at); message != "" {
			text, _ := json.Marshal(value)
			r.faultf(d.Pos, "%s in the default of %s %s (+%s)", text, name, message, rules[i].Marker)
		}
	}
	r.within(d, value, at, s, name)
}

// partsOf returns what a schema says of the elements of a list, or of the values of a map.
func partsOf(s *model.Schema) *model.Schema {
	if s.Items == nil {
		return &model.Schema{}
	}
	return s.Items
}

// rulesOfField returns those of a field, and of its type.
func (r *checker) rulesOfField(f *model.Field) []model.Rule {
	if at := f.Type.Pointee(); at != nil && at.Name != "" {
		return slices.Concat(r.of(&f.Schema).Rules, r.of(&at.Schema).Rules)
	}
	return r.of(&f.Schema).Rules
}
