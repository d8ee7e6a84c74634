package model

// Kind is what markers and fields say of a type that is a kind, in one version.
type Kind struct {
	ListType *Type // nil if the package declares none
	KindNames
	KindVersion
	KindWrites
	KindStorage
	KindVerbs
	KindViews
	KindSubresources
	// RoundTripOff is +apigen:roundtrip=false: no round-trip test is generated.
	RoundTripOff bool
	// Client is what +genclient asks for; nil without it.
	Client *Client
	// Manifest is what only the kind's CustomResourceDefinition has.
	Manifest Manifest
}

// KindNames are the names of a kind as a resource, and its scope.
type KindNames struct {
	// Plural, Singular, ShortNames, Categories, ClusterScoped: +kubebuilder:resource, +genclient:nonNamespaced,
	// +resourceName; empty where derived.
	Plural, Singular       string
	ShortNames, Categories []string
	ClusterScoped          bool
	// Kubebuilder: the kind is a custom resource, as controller-gen's: marked +kubebuilder:object:root, or in a package
	// with +kubebuilder:object:generate=true.
	Kubebuilder bool
	// Served: a marker says how the kind is served.
	Served bool
}

// KindVersion is what a kind is in its version.
type KindVersion struct {
	// StorageVersion is +kubebuilder:storageversion, Unserved +kubebuilder:unservedversion.
	StorageVersion, Unserved bool
	// Asked is +apigen:served: whether to serve the kind in this version; nil without the marker. LeftOut: the version
	// of the kind isn't served, by that marker or since nothing asks for it.
	Asked   *bool
	LeftOut bool
	// Deprecated is the warning of +kubebuilder:deprecatedversion; IsDeprecated without a text of its own.
	Deprecated   string
	IsDeprecated bool
	// Removed is +k8s:prerelease-lifecycle-gen:removed, the release that no longer has the version.
	Removed string
}

// KindWrites is what is special about writes of a kind.
type KindWrites struct {
	// CreateOnUpdate is +apigen:createOnUpdate: an update of an object that doesn't exist creates it.
	// RequireResourceVersion is +apigen:requireResourceVersion: an update without one is refused.
	CreateOnUpdate, RequireResourceVersion bool
	// Name is +apigen:name, the rule for the names of objects; nil without the marker. NamePos is where it stands.
	Name    *NameRule
	NamePos Position
	// ReturnDeletedObject is +apigen:returnDeletedObject: a deletion answers with the object.
	ReturnDeletedObject bool
	// Generation is +apigen:generation: whether the server counts in metadata.generation; nil without the marker.
	Generation *bool
}

// KindStorage is where a kind is stored, or that it isn't.
type KindStorage struct {
	// WithoutStorage is +apigen:storage=none: a provider answers for the kind.
	WithoutStorage bool
	// SameAs is +apigen:sameAs: the kind of another group that has the same objects; nil without the marker.
	SameAs *Ref
	// StoragePrefix is +apigen:storagePrefix, in which * stands for the plural; StoragePrefixPos is where it stands.
	StoragePrefix    string
	StoragePrefixPos Position
}

// KindViews is how objects of a kind are shown and selected.
type KindViews struct {
	Columns    []Column
	Selectable []SelectableField
}

// KindSubresources is what a kind says of its subresources.
type KindSubresources struct {
	// HasStatus: there is a Status field, and it is a subresource: +kubebuilder:subresource:status says so, or neither
	// +kubebuilder:object:root nor +genclient:noStatus says otherwise.
	HasStatus bool
	// Scale is +kubebuilder:subresource:scale, Subresources are +apigen:subresource.
	Scale        *Scale
	Subresources []SubresourceMarker
}

// Manifest is what markers say of a kind that matters for its CustomResourceDefinition alone.
type Manifest struct {
	// Skip is +kubebuilder:skipversion: the version is left out.
	Skip bool
	// Status is +kubebuilder:subresource:status: a definition has the subresource only where that is written.
	Status bool
	// Labels and Annotations are +kubebuilder:metadata, in the order of the source.
	Labels, Annotations []KeyValue
}
