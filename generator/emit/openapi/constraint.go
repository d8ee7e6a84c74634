package openapi

import (
	"encoding/json"
	"strings"

	"apigen.dev/generator/model"
)

// layers adds what markers say of a named type, and of those that it is declared over.
func (b *builder) layers(s object, t *model.Type) {
	for _, layer := range t.Layers() {
		b.constrain(s, layer.Schema)
	}
}

// constrain adds what markers say of a value.
func (b *builder) constrain(s object, c model.Schema) {
	text(s, "format", c.Format)
	text(s, "pattern", c.Pattern)
	text(s, "title", c.Title)
	number(s, "minimum", c.Minimum)
	number(s, "maximum", c.Maximum)
	number(s, "multipleOf", c.MultipleOf)
	flag(s, "exclusiveMinimum", c.ExclusiveMinimum)
	flag(s, "exclusiveMaximum", c.ExclusiveMaximum)
	count(s, "minLength", c.MinLength)
	count(s, "maxLength", c.MaxLength)
	count(s, "minItems", c.MinItems)
	count(s, "maxItems", c.MaxItems)
	count(s, "minProperties", c.MinProperties)
	count(s, "maxProperties", c.MaxProperties)
	flag(s, "uniqueItems", c.UniqueItems)
	flag(s, "nullable", c.Nullable)
	if len(c.Enum) > 0 {
		values := make([]any, len(c.Enum))
		for i, v := range c.Enum {
			values[i] = raw(v)
		}
		s["enum"] = values
	}
	if c.Example != "" {
		s["example"] = raw(c.Example)
	}
	extensions(s, c)
	b.elements(s, c.Items)
}

// elements adds what markers say of the elements of a list, or of the values of a map.
func (b *builder) elements(s object, c *model.Schema) {
	if c == nil {
		return
	}
	for _, key := range []string{"items", "additionalProperties"} {
		if element, ok := s[key].(object); ok {
			extra := object{}
			b.constrain(extra, *c)
			s[key] = overlay(replaceBase(element, *c), extra)
			b.elements(element, c.Items)
		}
	}
}

// extensions adds what OpenAPI has no word for.
func extensions(s object, c model.Schema) {
	text(s, "x-kubernetes-list-type", c.ListType)
	if len(c.ListMapKeys) > 0 {
		s["x-kubernetes-list-map-keys"] = c.ListMapKeys
	}
	text(s, "x-kubernetes-map-type", first(c.MapType, c.StructType))
	flag(s, "x-kubernetes-preserve-unknown-fields", c.PreserveUnknownFields)
	flag(s, "x-kubernetes-embedded-resource", c.EmbeddedResource)
	flag(s, "x-kubernetes-int-or-string", c.IntOrString)
	validations(s, c)
}

// validations adds the rules in CEL to those that are there.
func validations(s object, c model.Schema) {
	rules, _ := s["x-kubernetes-validations"].([]any)
	rules = append(rules, counts(c.Rules)...)
	for _, r := range c.CEL {
		rule := object{"rule": r.Rule}
		text(rule, "message", r.Message)
		text(rule, "messageExpression", r.MessageExpression)
		text(rule, "reason", r.Reason)
		text(rule, "fieldPath", r.FieldPath)
		flag(rule, "optionalOldSelf", r.OptionalOldSelf)
		rules = append(rules, rule)
	}
	if len(rules) > 0 {
		s["x-kubernetes-validations"] = rules
	}
}

// counts are the rules in CEL that say of how many fields one is set, as controller-gen writes them.
func counts(rules []model.Rule) []any {
	var out []any
	for _, r := range rules {
		if r.Check != model.OneOf {
			continue
		}
		var has []string
		for _, name := range r.Values {
			has = append(has, "has(self."+name+")")
		}
		fields := "[" + strings.Join(r.Values, " ") + "]"
		operator, message := "== 1", "exactly one of the fields in "+fields+" must be set"
		switch {
		case r.Most < 0:
			operator, message = ">= 1", "at least one of the fields in "+fields+" must be set"
		case r.Least == 0:
			operator, message = "<= 1", "at most one of the fields in "+fields+" may be set"
		}
		out = append(out, object{"rule": "[" + strings.Join(has, ",") + "].filter(x,x==true).size() " + operator, "message": message})
	}
	return out
}

// raw is a value that is already JSON; what is not is taken as a string.
func raw(value string) any {
	if json.Valid([]byte(value)) {
		return json.RawMessage(value)
	}
	return value
}

func text(s object, key, value string) {
	if value != "" {
		s[key] = value
	}
}

func flag(s object, key string, value bool) {
	if value {
		s[key] = true
	}
}

func number(s object, key string, value *float64) {
	if value != nil {
		s[key] = *value
	}
}

func count(s object, key string, value *int64) {
	if value != nil {
		s[key] = *value
	}
}
