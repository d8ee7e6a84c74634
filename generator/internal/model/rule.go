package model

// Check is what a rule demands of a value.
type Check string

// The checks. Those on the first lines look at a value alone, Immutable, Update and Monotonic at the change of one, and
// the last ones at the fields of a struct.
const (
	Required      Check = "required"
	Optional      Check = "optional" // in Kubernetes' own grammar: with a default, it is as good as required
	Forbidden     Check = "forbidden"
	Minimum       Check = "minimum"
	Maximum       Check = "maximum"
	MultipleOf    Check = "multipleOf"
	MinLength     Check = "minLength"
	MaxLength     Check = "maxLength"
	MaxBytes      Check = "maxBytes"
	Pattern       Check = "pattern"
	Format        Check = "format"
	Enum          Check = "enum"
	NotEqual      Check = "neq"
	MinItems      Check = "minItems"
	MaxItems      Check = "maxItems"
	Unique        Check = "unique"
	MinProperties Check = "minProperties"
	MaxProperties Check = "maxProperties"

	Immutable Check = "immutable"
	Update    Check = "update"
	Monotonic Check = "monotonic"

	UnionMember        Check = "unionMember"
	UnionDiscriminator Check = "unionDiscriminator"
	ZeroOrOneOfMember  Check = "zeroOrOneOfMember"
	ModeDiscriminator  Check = "modeDiscriminator"
	DependentRequired  Check = "dependentRequired"
	DependentForbidden Check = "dependentForbidden"
	// OneOf is on a struct: of the fields in Values, between Least and Most are set.
	OneOf Check = "oneOf"
)

// Rule is one constraint that a marker puts on a value, and that is checked when an object is written.
type Rule struct {
	Check Check
	// Declarative tells Kubernetes' declarative tags (+k8s:minimum) from controller-gen's markers. The former mean what
	// kube-apiserver makes of them for its own kinds, zero values being unset, and fail with its words; the latter what
	// it makes of a custom resource's schema.
	Declarative bool
	// Text is the value as written: a bound, a pattern, the name of a format, of a union or of a sibling, set or map.
	Text string
	// Values are an enumeration's as JSON, what an update may not do, the fields of a OneOf, or a union member's value
	// of the discriminator.
	Values []string
	// Exclusive: the bound itself is out of bounds.
	Exclusive bool
	// Least and Most bound a OneOf; Most is negative if there is no bound.
	Least, Most int
	// Marker is its name, for messages: kubebuilder:validation:Minimum.
	Marker string
	Pos    Position
}

// Part holds constraints on a part of a value.
type Part struct {
	// Name is the JSON name of a field (+k8s:subfield), or the value of the discriminator (+k8s:ifMode); Group names
	// the discriminator where a struct has several.
	Name, Group string
	// Keys pick an element of a list (+k8s:item): the JSON names of fields, and their values as text.
	Keys   []KeyValue
	Schema *Schema
	Pos    Position
}

// KeyValue is a field's JSON name and a value.
type KeyValue struct {
	Key, Value string
}

// Rule returns the first rule of that check, or nil.
func (s *Schema) Rule(c Check) *Rule {
	for i := range s.Rules {
		if s.Rules[i].Check == c {
			return &s.Rules[i]
		}
	}
	return nil
}

// Checked reports whether anything in the schema is checked when objects are written.
func (s *Schema) Checked() bool {
	return s != nil && (len(s.Rules) > 0 || s.Items.Checked() || s.Keys.Checked() ||
		len(s.Subfields) > 0 || len(s.Elements) > 0 || len(s.Modes) > 0)
}
