package crdjson

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// schema appends a schema, its fields in the order of the Go type.
func (w *writer) schema(s *props) {
	w.out = append(w.out, '{')
	w.describing(s)
	w.bounding(s)
	w.nesting(s)
	w.extending(s)
	w.out = append(w.out, '}')
}

func (w *writer) describing(s *props) {
	w.optionalText("id", s.ID)
	w.optionalText("$schema", string(s.Schema))
	textAt(w, "$ref", s.Ref)
	w.optionalText("description", s.Description)
	w.optionalText("type", s.Type)
	w.optionalText("format", s.Format)
	w.optionalText("title", s.Title)
	w.rawAt("default", s.Default)
}

func (w *writer) bounding(s *props) {
	w.numberAt("maximum", s.Maximum)
	w.optionalBool("exclusiveMaximum", s.ExclusiveMaximum)
	w.numberAt("minimum", s.Minimum)
	w.optionalBool("exclusiveMinimum", s.ExclusiveMinimum)
	w.wholeAt("maxLength", s.MaxLength)
	w.wholeAt("minLength", s.MinLength)
	w.optionalText("pattern", s.Pattern)
	w.wholeAt("maxItems", s.MaxItems)
	w.wholeAt("minItems", s.MinItems)
	w.optionalBool("uniqueItems", s.UniqueItems)
	w.numberAt("multipleOf", s.MultipleOf)
	if len(s.Enum) > 0 {
		w.key("enum")
		list(w, s.Enum, w.raw)
	}
	w.wholeAt("maxProperties", s.MaxProperties)
	w.wholeAt("minProperties", s.MinProperties)
	w.texts("required", s.Required)
}

func (w *writer) nesting(s *props) {
	if s.Items != nil {
		w.key("items")
		w.itemsOf(s.Items)
	}
	w.schemas("allOf", s.AllOf)
	w.schemas("oneOf", s.OneOf)
	w.schemas("anyOf", s.AnyOf)
	if s.Not != nil {
		w.key("not")
		w.schema(s.Not)
	}
	w.members("properties", s.Properties)
	w.schemaOrBool("additionalProperties", s.AdditionalProperties)
	w.members("patternProperties", s.PatternProperties)
	if len(s.Dependencies) > 0 {
		w.key("dependencies")
		w.other(s.Dependencies)
	}
	w.schemaOrBool("additionalItems", s.AdditionalItems)
	w.members("definitions", s.Definitions)
	if s.ExternalDocs != nil {
		w.key("externalDocs")
		w.other(s.ExternalDocs)
	}
	w.rawAt("example", s.Example)
	w.optionalBool("nullable", s.Nullable)
}

func (w *writer) extending(s *props) {
	w.boolAt("x-kubernetes-preserve-unknown-fields", s.XPreserveUnknownFields)
	w.optionalBool("x-kubernetes-embedded-resource", s.XEmbeddedResource)
	w.optionalBool("x-kubernetes-int-or-string", s.XIntOrString)
	w.texts("x-kubernetes-list-map-keys", s.XListMapKeys)
	textAt(w, "x-kubernetes-list-type", s.XListType)
	textAt(w, "x-kubernetes-map-type", s.XMapType)
	if len(s.XValidations) > 0 {
		w.key("x-kubernetes-validations")
		list(w, s.XValidations, w.rule)
	}
}

func (w *writer) rule(r *apiextensionsv1.ValidationRule) {
	w.out = append(w.out, '{')
	w.key("rule")
	w.text(r.Rule)
	w.optionalText("message", r.Message)
	w.optionalText("messageExpression", r.MessageExpression)
	textAt(w, "reason", r.Reason)
	w.optionalText("fieldPath", r.FieldPath)
	w.boolAt("optionalOldSelf", r.OptionalOldSelf)
	w.out = append(w.out, '}')
}

func (w *writer) schemas(name string, all []props) {
	if len(all) > 0 {
		w.key(name)
		list(w, all, w.schema)
	}
}

func (w *writer) itemsOf(items *apiextensionsv1.JSONSchemaPropsOrArray) {
	switch {
	case len(items.JSONSchemas) > 0:
		list(w, items.JSONSchemas, w.schema)
	case items.Schema != nil:
		w.schema(items.Schema)
	default:
		w.out = append(w.out, "null"...)
	}
}

func (w *writer) schemaOrBool(name string, of *apiextensionsv1.JSONSchemaPropsOrBool) {
	if of == nil {
		return
	}
	w.key(name)
	switch {
	case of.Schema != nil:
		w.schema(of.Schema)
	case of.Allows:
		w.out = append(w.out, "true"...)
	default:
		w.out = append(w.out, "false"...)
	}
}

func (w *writer) rawAt(name string, value *apiextensionsv1.JSON) {
	if value != nil {
		w.key(name)
		w.raw(value)
	}
}

// raw appends JSON without white space. Most of it are short texts.
func (w *writer) raw(value *apiextensionsv1.JSON) {
	raw := value.Raw
	switch {
	case len(raw) == 0:
		w.out = append(w.out, "null"...)
	case isPlainText(raw) || string(raw) == "true" || string(raw) == "false":
		w.out = append(w.out, raw...)
	default:
		w.other(json.RawMessage(raw))
	}
}

// isPlainText reports whether JSON is a string without escapes.
func isPlainText(raw []byte) bool {
	last := len(raw) - 1
	if last < 1 || raw[0] != '"' || raw[last] != '"' {
		return false
	}
	for _, c := range raw[1:last] {
		if !isPlain(c) {
			return false
		}
	}
	return true
}
