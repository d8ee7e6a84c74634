package cel

// Schema is what CEL knows of a value: a structural schema without what expressions can't see. A Schema is shared and
// must not be changed. Generated code lists the fields in this order.
type Schema struct {
	// Type is that of JSON: object, array, string, integer, number, boolean; or empty. Format counts for strings: byte,
	// date, date-time and duration are types of their own in CEL.
	Type, Format string
	// Nullable: null is a value. IntOrString is of any type to expressions. PreserveUnknownFields: what is not described is
	// there, and expressions don't see it. EmbeddedResource has apiVersion, kind and metadata.
	Nullable, IntOrString, PreserveUnknownFields, EmbeddedResource bool

	// Required are the properties that are never missing.
	Required []string
	// ListType is map, set or atomic, which is that of an empty one; ListMapKeys tell elements of a map apart. MapType is
	// granular or atomic; only within it are old and new values compared.
	ListType    string
	ListMapKeys []string
	MapType     string

	// Enum are the values of an enumeration of strings, Defaulted: there is a default, so that nobody has to send a value. Of
	// the bounds, nil is none. All of them are for estimates of cost.
	Enum                               []string
	Defaulted                          bool
	MaxLength, MaxItems, MaxProperties *int64

	// Rules are those of the value.
	Rules []Rule

	// Properties are an object's fields, by their names in JSON.
	Properties map[string]*Schema
	// Values is the schema of the values of a map, Items that of a list's elements. Nil where unknown.
	Values, Items *Schema
}

// Rule is a demand in CEL that values of a schema must meet: one x-kubernetes-validations.
type Rule struct {
	// Rule is the expression, of type bool.
	Rule string
	// Message is what a user reads where the rule is not met; MessageExpression, of type string, computes it.
	Message, MessageExpression string
	// Reason is the kind of error: FieldValueInvalid, which is that of an empty one, FieldValueForbidden,
	// FieldValueRequired or FieldValueDuplicate.
	Reason string
	// FieldPath is where the error is said to be, below the value: .spec.replicas
	FieldPath string
	// OptionalOldSelf: oldSelf is optional, and the rule is run on creation, too.
	OptionalOldSelf bool
}

// Limit is a bound of a Schema.
func Limit(n int64) *int64 { return &n }

// HasRules tells whether there are rules in the schema or below it.
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

// text is the schema of what is only known to be text.
var text = &Schema{Type: "string"}

// asResource is the schema of the root of an object, where kind, apiVersion and the names in metadata are known whether the
// schema says so or not.
func (s *Schema) asResource() *Schema {
	out := *s
	out.Properties = make(map[string]*Schema, len(s.Properties)+3)
	for name, p := range s.Properties {
		out.Properties[name] = p
	}
	out.Properties["kind"], out.Properties["apiVersion"] = text, text
	metadata := s.Properties["metadata"]
	if metadata == nil || metadata.Properties["name"] == nil || metadata.Properties["generateName"] == nil {
		out.Properties["metadata"] = &Schema{Type: "object",
			Properties: map[string]*Schema{"name": text, "generateName": text}}
	}
	return &out
}
