package cel

import "maps"

// Schema describes a value for CEL: a structural schema without the parts that expressions can't see. A Schema is
// shared and must not be changed. Generated code lists the fields in this order.
type Schema struct {
	// Type is the type in JSON: object, array, string, integer, number, boolean; or empty. Format is used for strings:
	// byte, date, date-time and duration are types of their own in CEL.
	Type, Format string
	// Nullable allows null. An IntOrString has any type in expressions. PreserveUnknownFields keeps fields that the
	// schema doesn't describe, which expressions don't see. An EmbeddedResource has apiVersion, kind and metadata.
	Nullable, IntOrString, PreserveUnknownFields, EmbeddedResource bool

	// Required are the properties that are always there.
	Required []string
	// ListType is map, set or atomic; an empty one is atomic. ListMapKeys identify the elements of a map. MapType is
	// granular or atomic; old and new values are compared only within a granular one.
	ListType    string
	ListMapKeys []string
	MapType     string

	// Enum are the values of an enumeration of strings. Defaulted says that there is a default, so that clients needn't
	// send a value. Of the bounds, nil is none. All of these are used to estimate costs.
	Enum                               []string
	Defaulted                          bool
	MaxLength, MaxItems, MaxProperties *int64

	// Rules are the rules of the value.
	Rules []Rule

	// Properties are an object's fields, by their names in JSON.
	Properties map[string]*Schema
	// Values is the schema of a map's values, Items that of a list's elements. They are nil if they are unknown.
	Values, Items *Schema
}

// Rule is a validation rule in CEL for values of a schema: one x-kubernetes-validations.
type Rule struct {
	// Rule is the expression, of type bool.
	Rule string
	// Message is the message of the error; MessageExpression, of type string, computes it.
	Message, MessageExpression string
	// Reason is the kind of the error: FieldValueInvalid, which an empty one means, too, FieldValueForbidden,
	// FieldValueRequired or FieldValueDuplicate.
	Reason string
	// FieldPath is the path of the error below the value: .spec.replicas
	FieldPath string
	// OptionalOldSelf makes oldSelf optional, so that the rule runs on creation, too.
	OptionalOldSelf bool
}

// Limit returns a bound of a Schema.
func Limit(n int64) *int64 { return &n }

// HasRules reports whether there are rules in the schema or below it.
func (s *Schema) HasRules() bool {
	if s == nil {
		return false
	}
	if len(s.Rules) > 0 || s.Items.HasRules() || s.Values.HasRules() {
		return true
	}
	for _, p := range s.Properties {
		if p.HasRules() {
			return true
		}
	}
	return false
}

// text is the schema of a value that is known to be text.
var text = &Schema{Type: "string"}

// asResource returns the schema of the root of an object, which always has kind, apiVersion and the names in metadata.
func (s *Schema) asResource() *Schema {
	out := *s
	out.Properties = make(map[string]*Schema, len(s.Properties)+3)
	maps.Copy(out.Properties, s.Properties)
	out.Properties["kind"], out.Properties["apiVersion"] = text, text
	metadata := s.Properties["metadata"]
	if metadata == nil || metadata.Properties["name"] == nil || metadata.Properties["generateName"] == nil {
		out.Properties["metadata"] = &Schema{Type: "object",
			Properties: map[string]*Schema{"name": text, "generateName": text}}
	}
	return &out
}
