package marker

import "apigen.dev/generator/internal/model"

// schemaMarkers are the markers of schemas that have no prefix.
var schemaMarkers = []Definition{
	{Name: "optional", Places: values, Kind: OptionalText, Conflicts: Conflicts{OverriddenBy: []string{"k8s:required"}},
		Set: Set{Value: setOptional}, Doc: "Lets clients leave the field out."},
	{Name: "required", Places: values, Kind: OptionalText, Rule: Rule{Check: model.Required},
		Conflicts: Conflicts{Contradicts: "optional"},
		Set:       Set{Value: setRequired}, Doc: "Requires the field. The server rejects objects without it."},
	{Name: "nullable", Places: values, Kind: OptionalText,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.Nullable })},
		Doc: "Allows null as a value of the field."},
	{Name: "default", Places: values, Kind: JSONOrConstant, Conflicts: Conflicts{Single: true},
		Set: Set{Type: setTypeDefault, Field: setDefault}, Read: Read{Packages: packageOfConstant},
		Doc: "Sets the value that the server gives the field where a client leaves it out: a JSON literal " +
			"(+default=\"TCP\", +default={}), or ref(Constant), a constant of this package or, with its path, of " +
			"another."},
	{Name: "enum", Places: Type, Kind: OptionalText, Conflicts: Conflicts{OverriddenBy: []string{"k8s:enum"}},
		Claims: model.ConstantStrings,
		Set:    Set{Type: setTypeEnum},
		Doc: "Lists the constants of the type as its legal values in the schema alone, as for kube-apiserver's " +
			"kinds. The server checks +k8s:enum."},
	{Name: "listType", Places: values, Kind: Word, Words: []string{"atomic", "set", "map"},
		Conflicts: Conflicts{Single: true},
		Claims:    model.MergedLists, Set: Set{Value: setListType},
		Doc: "Says how server-side apply merges the list: atomic as a whole, set by value, map by its listMapKey. " +
			"The server checks that the values of a set and the keys of a map are unique."},
	{Name: "listMapKey", Places: values, Kind: Text, Many: true, Set: Set{Value: addListMapKey},
		Doc: "Names a field that identifies the elements of a list of listType map. Repeat it for several fields."},
	{Name: "mapType", Places: values, Kind: Word, Words: []string{"atomic", "granular"},
		Conflicts: Conflicts{Single: true},
		Claims:    model.MergedObjects, Set: Set{Value: text(func(s *model.Schema) *string { return &s.MapType })},
		Doc: "Says how server-side apply merges the map."},
	{Name: "structType", Places: values, Kind: Word, Words: []string{"atomic", "granular"},
		Conflicts: Conflicts{Single: true},
		Claims:    model.MergedObjects, Set: Set{Value: text(func(s *model.Schema) *string { return &s.StructType })},
		Doc: "Says how server-side apply merges the struct."},
	{Name: "patchStrategy", Places: Field, Kind: Text, Ignored: copied, Claims: model.PatchTags,
		Doc: "Sets the strategy of a strategic merge patch."},
	{Name: "patchMergeKey", Places: Field, Kind: Text, Ignored: copied, Claims: model.PatchTags,
		Doc: "Sets the merge key of a strategic merge patch."},
}

// validation is the prefix of controller-gen's markers for values.
const validation = "kubebuilder:validation:"

// valueMarkers are controller-gen's markers for values; those of bounds are in boundMarkers.
var valueMarkers = []Definition{
	{Name: "kubebuilder:default", Places: Field, Kind: JSON,
		Conflicts: Conflicts{Single: true, OverriddenBy: []string{"default"}, MustMatch: true},
		Set:       Set{Field: setKubebuilderDefault},
		Doc:       "Sets the value that the server gives the field where a client leaves it out."},
	{Name: "kubebuilder:example", Places: values, Kind: JSON, Set: Set{Value: setExample},
		Doc: "Adds an example of a value to the schema."},
	{Name: "kubebuilder:title", Places: values, Kind: JSON, Set: Set{Value: setTitle}, Doc: "Sets the schema's title."},
	{Name: "kubebuilder:validation:Title", Places: values, Kind: JSON,
		Conflicts: Conflicts{OverriddenBy: []string{"kubebuilder:title"}},
		Set:       Set{Value: setTitle}, Doc: "Sets the schema's title."},
	{Name: "kubebuilder:externalDocs", Places: values, Kind: Arguments, Keys: []string{"url", "description"},
		Set: Set{Value: setExternalDocs},
		Doc: "Adds a link to documentation to the schema of a CustomResourceDefinition: " +
			"+kubebuilder:externalDocs:url=\"https://example.com\",description=\"More\"."},
	{Name: "kubebuilder:validation:ExternalDocs", Places: values, Kind: Arguments, Keys: []string{"url", "description"},
		Conflicts: Conflicts{OverriddenBy: []string{"kubebuilder:externalDocs"}}, Set: Set{Value: setExternalDocs},
		Doc: "Means the same as +kubebuilder:externalDocs."},
	{Name: "kubebuilder:pruning:PreserveUnknownFields", Places: values, Kind: Flag, Set: Set{Value: setPreserve},
		Doc: "Keeps fields that the schema doesn't know."},
	{Name: "kubebuilder:validation:XPreserveUnknownFields", Places: values, Kind: Flag, Set: Set{Value: setPreserve},
		Doc: "Keeps fields that the schema doesn't know."},
	{Name: "kubebuilder:validation:EmbeddedResource", Places: values, Kind: Flag, Claims: model.Objects,
		Set: Set{Value: setEmbedded}, Doc: "Makes the value an object with apiVersion, kind and metadata."},
	{Name: "kubebuilder:validation:XEmbeddedResource", Places: values, Kind: Flag, Claims: model.Objects,
		Set: Set{Value: setEmbedded}, Doc: "Makes the value an object with apiVersion, kind and metadata."},
	{Name: "kubebuilder:validation:XIntOrString", Places: values, Kind: Flag, Claims: model.IntsOrStrings,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.IntOrString })},
		Doc: "Makes the value a number or a string."},
	{Name: "kubebuilder:validation:Optional", Places: Package | values, Kind: Flag,
		Conflicts: Conflicts{OverriddenBy: []string{"k8s:required"}},
		Set:       Set{Package: flag(func(p *model.Package) *bool { return &p.OptionalFields }), Value: setOptional},
		Read:      Read{Detached: true},
		Doc: "Lets clients leave the field out. On the package, it holds for all fields that don't say " +
			"otherwise."},
	{Name: "kubebuilder:validation:Required", Places: Package | values, Kind: Flag, Rule: Rule{Check: model.Required},
		Conflicts: Conflicts{Contradicts: validation + "Optional"},
		Set:       Set{Package: flag(func(p *model.Package) *bool { return &p.RequiredFields }), Value: setRequired},
		Read:      Read{Detached: true},
		Doc:       "Requires the field. On the package, it holds for all fields that don't say otherwise."},
	{Name: "kubebuilder:validation:Schemaless", Places: values, Kind: Flag,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.Schemaless })},
		Doc: "Leaves the schema of the field empty."},
	{Name: "kubebuilder:validation:Type", Places: values, Kind: OptionalText, Conflicts: Conflicts{Single: true},
		Claims: model.SchemaTypes,
		Set:    Set{Value: text(func(s *model.Schema) *string { return &s.Type })},
		Doc:    "Sets the type in the schema in place of that of the Go type. \"\" removes it, beside XIntOrString."},
	{Name: "kubebuilder:validation:Format", Places: values, Kind: Text,
		Rule:      Rule{Check: model.Format, Refine: unquoteRule},
		Conflicts: Conflicts{Single: true}, Set: Set{Value: setFormat},
		Doc: "Sets the format in the schema: date-time, int64. The server checks strings of the formats that are " +
			"checked in custom resources: ipv4, hostname, duration and so on."},
	{Name: "kubebuilder:validation:Enum", Places: values, Kind: List, Rule: Rule{Check: model.Enum, Refine: enumRule},
		Conflicts: Conflicts{Single: true},
		Set:       Set{Value: setEnum}, Doc: "Lists the legal values: +kubebuilder:validation:Enum=Red;Green."},
	{Name: "kubebuilder:validation:Pattern", Places: values, Kind: Text, Rule: Rule{Check: model.Pattern},
		Conflicts: Conflicts{Single: true},
		Set:       Set{Value: text(func(s *model.Schema) *string { return &s.Pattern })},
		Doc:       "Sets a regular expression that strings must match."},
	{Name: "kubebuilder:validation:ExclusiveMinimum", Places: values, Kind: Bool,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.ExclusiveMinimum })},
		Doc: "Makes the minimum itself an illegal value."},
	{Name: "kubebuilder:validation:ExclusiveMaximum", Places: values, Kind: Bool,
		Set: Set{Value: flag(func(s *model.Schema) *bool { return &s.ExclusiveMaximum })},
		Doc: "Makes the maximum itself an illegal value."},
	{Name: "kubebuilder:validation:MultipleOf", Places: values, Kind: Number, Rule: Rule{Check: model.MultipleOf},
		Set: Set{Value: limit(model.MultipleOf)}, Doc: "Requires that values are multiples of this number."},
	{Name: "kubebuilder:validation:UniqueItems", Places: values, Kind: Bool,
		Rule: Rule{Check: model.Unique, Refine: setRule},
		Set:  Set{Value: flag(func(s *model.Schema) *bool { return &s.UniqueItems })},
		Doc:  "Requires that elements are unique."},
	{Name: "kubebuilder:validation:XValidation", Places: values, Kind: Arguments,
		Keys: []string{"rule", "message", "messageExpression", "reason", "fieldPath", "optionalOldSelf"}, Many: true,
		Bare: "optionalOldSelf", Set: Set{Value: addCELRule}, Read: Read{Needs: NeedsCEL},
		Doc: "Adds a rule in CEL that values must satisfy. apigen build compiles the rule, and the server evaluates " +
			"it on every write, with Kubernetes' functions, cost limits and leniency on update: " +
			"+kubebuilder:validation:XValidation:rule=\"self.min <= self.max\",message=\"min is above max\"."},
	{Name: "kubebuilder:validation:AtMostOneOf", Places: Type, Kind: List,
		Rule: Rule{Check: model.OneOf, Refine: oneOf(0, 1)},
		Doc:  "Requires that clients set at most one of these fields."},
	{Name: "kubebuilder:validation:ExactlyOneOf", Places: Type, Kind: List,
		Rule: Rule{Check: model.OneOf, Refine: oneOf(1, 1)},
		Doc:  "Requires that clients set exactly one of these fields."},
	{Name: "kubebuilder:validation:AtLeastOneOf", Places: Type, Kind: List,
		Rule: Rule{Check: model.OneOf, Refine: oneOf(1, -1)},
		Doc:  "Requires that clients set at least one of these fields."},
}

// Two markers set each of these.
var (
	setOptional = flag(func(s *model.Schema) *bool { return &s.Optional })
	setRequired = flag(func(s *model.Schema) *bool { return &s.Required })
	setPreserve = flag(func(s *model.Schema) *bool { return &s.PreserveUnknownFields })
	setEmbedded = flag(func(s *model.Schema) *bool { return &s.EmbeddedResource })
	setTitle    = unquoted(func(s *model.Schema) *string { return &s.Title })
	setFormat   = unquoted(func(s *model.Schema) *string { return &s.Format })
	setListType = text(func(s *model.Schema) *string { return &s.ListType })
	setTypeEnum = flag(func(t *model.Type) *bool { return &t.Enum })
)
