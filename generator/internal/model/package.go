package model

// PackageConversion is what markers of a package say of conversions.
type PackageConversion struct {
	// ConversionPeers are the import paths of +k8s:conversion-gen=, Peers those packages, as far as they could be
	// loaded; ConversionOff is +k8s:conversion-gen=false.
	ConversionPeers []string
	Peers           []*Package
	ConversionOff   bool
	// ConversionPrune is +apigen:conversion:prune: conversions lose the fields that only one of two versions has.
	ConversionPrune    bool
	ConversionPrunePos Position
	// ConversionExternal is the package of +k8s:conversion-gen-external-types: the versioned types live there.
	ConversionExternal *Package
}

// PackageDefaulting is what markers of a package say of defaults.
type PackageDefaulting struct {
	// Defaulter is true where +k8s:defaulter-gen=TypeMeta (or another field's name) asks for defaulting functions of
	// every type with that field, DefaulterField; DefaulterInput is the package of +k8s:defaulter-gen-input.
	Defaulter      bool
	DefaulterField string
	DefaulterInput *Package
}

// PackageRegistration is what hand-written code of a package does to register types with a scheme.
type PackageRegistration struct {
	// LocalSchemeBuilder names the variable that generated functions register with: localSchemeBuilder, SchemeBuilder,
	// or empty if the package declares neither by hand, or one that takes no functions, as controller-runtime's.
	LocalSchemeBuilder string
	// RegistersInInit reports whether a hand-written function init adds types to a scheme, and nothing that is
	// generated for the program needs an AddToScheme.
	RegistersInInit bool
}

// PackageServing connects a package with one of another module whose kinds it serves.
type PackageServing struct {
	// Serves is the package of +apigen:serve: a version in another module that stays as it is, and whose kinds are
	// served from here. ConversionExternal and DefaulterInput are that package, too. ServedBy leads back; of that
	// package's types, those that aren't served are no kinds.
	Serves, ServedBy *Package
	// OtherGroupMarked: the package's own marker names another group than Group, in which it registers its types.
	OtherGroupMarked bool
}

// PackageProducts is what markers of a package ask for.
type PackageProducts struct {
	// DeepCopy is the package's default for its types (+k8s:deepcopy-gen=package, +kubebuilder:object:generate=true).
	DeepCopy bool
	// Kubebuilder is +kubebuilder:object:generate: the package's kinds are custom resources, as controller-gen's.
	Kubebuilder bool
	// Validation is +k8s:validation-gen: validation functions are asked for, whether or not there is a server.
	Validation bool
	// CollectGroups is +apigen:groups: emit Groups(), the wiring of every group below this package.
	CollectGroups bool
	// RoundTripOff is +apigen:roundtrip=false: no round-trip tests are generated for the version.
	RoundTripOff bool
	// Clients is true where +apigen:clients asks for client packages of every group below this package. ClientFolder is
	// the folder that it names, as it was written, ExternalClients those of +apigen:clients:external.
	Clients         bool
	ClientFolder    Folder
	ExternalClients map[string]string
	// Reference and CRDs are where documents of the groups below the package go (+apigen:reference, +apigen:crds); nil
	// if none are asked for.
	Reference, CRDs *Folder
	// EmbeddedMetadata is +apigen:crds:embeddedMetadata: the documents say what the metadata of objects inside of
	// objects is.
	EmbeddedMetadata bool
}

// PackageSchemas is what markers of a package say of the group, the version and the schemas of its types.
type PackageSchemas struct {
	// GroupGoName is +groupGoName, GroupGoNamePos where it stands.
	GroupGoName    string
	GroupGoNamePos Position
	// Preferred is +apigen:preferred: clients that name no version get this one. PreferredPos is where it stands.
	Preferred    bool
	PreferredPos Position
	// Skip is +kubebuilder:skip: the package is not a version in a CustomResourceDefinition.
	Skip bool
	// OptionalFields and RequiredFields are +kubebuilder:validation:Optional and Required: what holds for the fields
	// that say neither.
	OptionalFields, RequiredFields bool
	// ModelPackage is +k8s:openapi-model-package, the prefix of schema names; empty means derived from the path.
	ModelPackage string
}
