package structural

import (
	"maps"
	"slices"

	"apigen.dev/runtime/cel"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kjson "sigs.k8s.io/json"
)

// CEL returns the schema as CEL rules see it.
func CEL(props *apiextensionsv1.JSONSchemaProps) *cel.Schema {
	if props == nil {
		return &cel.Schema{Type: "object"}
	}
	out := &cel.Schema{
		Type: props.Type, Format: props.Format, Nullable: props.Nullable, IntOrString: props.XIntOrString,
		PreserveUnknownFields: isTrue(props.XPreserveUnknownFields), EmbeddedResource: props.XEmbeddedResource,
		Required: props.Required, ListType: text(props.XListType), ListMapKeys: props.XListMapKeys,
		MapType: text(props.XMapType), Defaulted: props.Default != nil, MaxLength: props.MaxLength,
		MaxItems: props.MaxItems, MaxProperties: props.MaxProperties,
	}
	for _, value := range props.Enum {
		var s string
		if kjson.UnmarshalCaseSensitivePreserveInts(value.Raw, &s) == nil {
			out.Enum = append(out.Enum, s)
		}
	}
	for _, rule := range props.XValidations {
		r := cel.Rule{
			Rule: rule.Rule, Message: rule.Message, MessageExpression: rule.MessageExpression,
			FieldPath: rule.FieldPath, OptionalOldSelf: isTrue(rule.OptionalOldSelf),
		}
		if rule.Reason != nil {
			r.Reason = string(*rule.Reason)
		}
		out.Rules = append(out.Rules, r)
	}
	if len(props.Properties) > 0 {
		out.Properties = make(map[string]*cel.Schema, len(props.Properties))
	}
	for _, name := range slices.Sorted(maps.Keys(props.Properties)) {
		member := props.Properties[name]
		out.Properties[name] = CEL(&member)
	}
	if a := props.AdditionalProperties; a != nil && a.Schema != nil {
		out.Values = CEL(a.Schema)
	}
	if props.Items != nil && props.Items.Schema != nil {
		out.Items = CEL(props.Items.Schema)
	}
	return out
}
