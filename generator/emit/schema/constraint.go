package schema

import (
	"encoding/json"

	"apigen.dev/generator/model"
)

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
	if len(c.CEL) == 0 {
		return
	}
	rules := make([]any, len(c.CEL))
	for i, r := range c.CEL {
		rule := object{"rule": r.Rule}
		text(rule, "message", r.Message)
		text(rule, "messageExpression", r.MessageExpression)
		text(rule, "reason", r.Reason)
		text(rule, "fieldPath", r.FieldPath)
		flag(rule, "optionalOldSelf", r.OptionalOldSelf)
		rules[i] = rule
	}
	s["x-kubernetes-validations"] = rules
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
