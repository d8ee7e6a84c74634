package model

// Schema holds what markers say of a type's or a field's values, in OpenAPI's terms. Pointers are nil if nothing was
// said.
type Schema struct {
	Presence
	Merging
	Bounds
	WireForm
	Documentation
	Constraints
}

// Presence says whether a value must be there.
type Presence struct {
	Optional, Required, Nullable bool
}

// Merging says how patches and server-side apply merge values.
type Merging struct {
	ListType                     string // atomic, map, set
	ListMapKeys                  []string
	ListMapKeysPos               Position
	MapType                      string // atomic, granular
	StructType                   string // atomic, granular
	PatchStrategy, PatchMergeKey string // of the field's tag
}

// Bounds are the bounds of a value that OpenAPI has words for.
type Bounds struct {
	Enum            []string // as JSON
	Format, Pattern string
	// Limits are the numbers that values are held to, by the checks that hold them: Minimum to MaxProperties.
	Limits                             map[Check]float64
	ExclusiveMinimum, ExclusiveMaximum bool
	UniqueItems                        bool
}

// Limit returns the number that a check holds values to, or nil.
func (b *Bounds) Limit(check Check) *float64 {
	if limit, ok := b.Limits[check]; ok {
		return &limit
	}
	return nil
}

// SetLimit sets the number that a check holds values to.
func (b *Bounds) SetLimit(check Check, limit float64) {
	if b.Limits == nil {
		b.Limits = map[Check]float64{}
	}
	b.Limits[check] = limit
}

// WireForm says what a value is on the wire, where that is not what its Go type says.
type WireForm struct {
	Type                                    string
	PreserveUnknownFields, EmbeddedResource bool
	IntOrString, Schemaless                 bool
}

// Documentation is for the readers of a schema.
type Documentation struct {
	Example, Title string
	ExternalDocs   *ExternalDocs
}

// Constraints are the rules that a value is held to when objects are written.
type Constraints struct {
	Immutable bool
	CEL       []CELRule
	// Claims are the markers that say of what form values are, and constrain nothing: +listType,
	// +kubebuilder:validation:Type.
	Claims []Claim
	// Rules are the constraints that are checked when objects are written, in the order of the source. Rules that
	// OpenAPI can express are among the Bounds, too.
	Rules []Rule
	// Items constrain the elements of a list or the values of a map (+k8s:eachVal, +kubebuilder:validation:items:),
	// Keys the keys of a map (+k8s:eachKey). Nil if nothing was said.
	Items, Keys *Schema
	// Subfields constrain fields of the struct (+k8s:subfield), Elements single elements of a list (+k8s:item), Modes
	// the value as long as the discriminator beside it has a certain value (+k8s:ifMode).
	Subfields, Elements, Modes []Part
	// Opaque is +k8s:opaqueType: the rules of the value's type don't count here.
	Opaque bool
}

// HidesType reports whether the rules of the value's type don't count here: it is marked +k8s:opaqueType, or
// +kubebuilder:validation:Schemaless, so that a definition has only the value's own markers.
func (s *Schema) HidesType() bool { return s.Opaque || s.Schemaless }

// Claim is a marker that only values of some form can have.
type Claim struct {
	Marker, Value string
	Form          ClaimedForm
	Pos           Position
}

// ClaimedForm is the form of the values that a marker is for.
type ClaimedForm uint8

// The claims. A claim of merging says how values are merged, and nothing of values that aren't.
const (
	NoClaim         ClaimedForm = iota
	MergedLists                 // lists, as server-side apply merges them
	MergedObjects               // objects, as server-side apply merges them
	Objects                     // objects
	SchemaTypes                 // what the type that the marker names says
	IntsOrStrings               // values that hold both numbers and strings
	ConstantStrings             // strings whose constants are the values
	PatchTags                   // fields whose tags say the same of strategic merge patches
)
