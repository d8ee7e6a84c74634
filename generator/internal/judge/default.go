package judge

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"apigen.dev/generator/internal/model"
)

// defaults judges whether the defaults of types and of their fields are values of these, wherever a type comes from.
func (r *checker) defaults(types []*model.Type) {
	for _, t := range types {
		r.in = t.Package
		r.value(t.Default, t, func() { t.Default = nil })
		for part := range t.WithAnonymous() {
			for _, f := range part.Fields {
				r.value(f.Default, f.Type, func() { f.Default = nil })
			}
		}
	}
}

func (r *checker) value(d *model.Default, t *model.Type, omit func()) {
	if d == nil {
		return
	}
	if err := mismatch(d, t); err != nil {
		r.faultf(d.Pos, "%v", err)
		r.omit(omit)
		r.refused[d] = true
	}
}

// fitDefault checks a default against the rules for it, unless it isn't a value of its type. Field is what has it, or
// nil if a type does.
func (r *checker) fitDefault(d *model.Default, t *model.Type, field *model.Field, omit func()) {
	at, before := t.Pointee(), len(r.findings)
	s, name := r.of(&t.Schema), t.Name
	if field != nil {
		s, name = r.of(&field.Schema), field.Name
	}
	if d == nil || at == nil || r.refused[d] {
		return
	}
	rules := s.Rules
	if field != nil {
		rules = r.rulesAt(s, at)
	}
	value := d.Value()
	c := &defaultCheck{checker: r, pos: d.Pos, name: name}
	c.rules("default "+d.JSON+" of "+name, value, at, rules)
	if !flexible(at, s) {
		c.constant(value, at, rules)
		c.repeated(d, value, at, rules)
		c.missing(value, at)
		c.inner(value, at, s)
	}
	c.unreadable(value, at)
	for i := range r.findings[before:] {
		r.findings[before+i].Omit = omit
	}
}

type defaultCheck struct {
	*checker
	pos model.Position
	// name is that of the field or of the type with the default.
	name string
}

// constant reports a text that is none of the constants of an enumeration without a rule of its own.
func (c *defaultCheck) constant(value any, t *model.Type, rules []model.Rule) {
	constants := constantsOf(t)
	text, ok := value.(string)
	if !ok || !t.Enum || len(constants) == 0 || slices.Contains(constants, model.JSONString(text)) ||
		slices.ContainsFunc(rules, func(r model.Rule) bool { return r.Check == model.Enum }) {
		return
	}
	c.faultf(c.pos, "default %s of %s is not one of %s, the constants of %s", model.JSONString(text), c.name,
		strings.Join(constants, ", "), t.Name)
}

// missing reports required fields that an object lacks which a default makes: a server refuses a definition with such a
// default.
func (c *defaultCheck) missing(value any, t *model.Type) {
	object, ok := value.(map[string]any)
	if !ok || t.Form != model.Struct || t.Ambiguous() {
		return
	}
	for _, f := range t.Fields {
		if f.Ignored || f.Inline || f.Default != nil || f.Type.Pointee().Default != nil || f.Schema.Optional {
			continue
		}
		if object[f.JSON] != nil {
			continue
		}
		if rule := c.of(&f.Schema).Rule(model.Required); rule != nil {
			c.faultf(c.pos, "the default of %s lacks the field %q, which is required (+%s)",
				c.name, f.JSON, rule.Marker)
		} else if !f.OmitEmpty && t.Package != nil && t.Package.HasCustom() {
			c.faultf(c.pos, "the default of %s lacks the field %q, which is required, since it has no omitempty",
				c.name, f.JSON)
		}
	}
}

// texts are the library types of texts in a form of their own, and what reads them.
var texts = map[string]func(string) error{
	"Time":      func(s string) error { _, err := time.Parse(time.RFC3339, s); return err },
	"MicroTime": func(s string) error { _, err := time.Parse(time.RFC3339, s); return err },
	"Duration":  func(s string) error { _, err := time.ParseDuration(s); return err },
}

// unreadable reports a text that its type can't read: code that sets a default never fails.
func (c *defaultCheck) unreadable(value any, t *model.Type) {
	text, ok := value.(string)
	if !ok || !t.Is("k8s.io/apimachinery/pkg/apis/meta/v1", t.Name) || texts[t.Name] == nil {
		return
	}
	if err := texts[t.Name](text); err != nil {
		c.faultf(c.pos, "default %s of %s is no %s: %v", model.JSONString(text), c.name, t.Name, err)
	}
}

func (c *defaultCheck) rules(subject string, value any, t *model.Type, rules []model.Rule) {
	for i := range rules {
		if message := violates(value, &rules[i], t); message != "" {
			c.faultf(c.pos, "%s %s (+%s)", subject, message, rules[i].Marker)
		}
	}
}

func (c *defaultCheck) repeated(d *model.Default, value any, t *model.Type, rules []model.Rule) {
	isSet := func(r model.Rule) bool { return r.Check == model.Unique && r.Text == "set" }
	list, ok := value.([]any)
	if !ok || t.Elem == nil || !slices.ContainsFunc(rules, isSet) {
		return
	}
	seen := map[string]bool{}
	for _, v := range list {
		text, err := json.Marshal(v)
		if err == nil && seen[string(text)] {
			c.faultf(c.pos, "default %s of %s has %s twice, and its elements are a set", d.JSON, c.name, text)
		}
		seen[string(text)] = true
	}
}

// inner checks the elements of a list, the values of a map, and the members of an object.
func (c *defaultCheck) inner(value any, t *model.Type, s *model.Schema) {
	items := s.Items
	if items == nil {
		items = &model.Schema{}
	}
	switch v := value.(type) {
	case []any:
		if t.Elem != nil {
			for _, element := range v {
				c.part(element, t.Elem, items, c.itemRules(s, t))
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if t.Form == model.Map {
				c.part(v[key], t.Elem, items, c.itemRules(s, t))
			} else if f := fieldNamed(t, key); f != nil {
				c.part(v[key], f.Type, &f.Schema, c.rulesAt(&f.Schema, f.Type))
			}
		}
	}
}

func (c *defaultCheck) part(value any, t *model.Type, s *model.Schema, rules []model.Rule) {
	at := t.Pointee()
	if flexible(at, s) {
		return
	}
	text, _ := json.Marshal(value)
	c.rules(string(text)+" in the default of "+c.name, value, at, rules)
	c.inner(value, at, s)
}

// itemRules returns the rules for the elements of a default: those for elements here, and those of the elements' type.
func (r *checker) itemRules(s *model.Schema, t *model.Type) []model.Rule {
	var out []model.Rule
	if s.Items != nil {
		out = append(out, r.of(s.Items).Rules...)
	}
	if t.Name != "" && s != r.of(&t.Schema) && t.Schema.Items != nil {
		out = append(out, r.of(t.Schema.Items).Rules...)
	}
	return append(out, r.rulesAt(&model.Schema{}, t.Elem)...)
}
