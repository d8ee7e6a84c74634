package model

// Manifest is what markers say of a kind that matters for its CustomResourceDefinition alone.
type Manifest struct {
	// Skip is +kubebuilder:skipversion: the version is left out.
	Skip bool
	// Status is +kubebuilder:subresource:status: a definition has the subresource only where that is written.
	Status bool
	// Labels and Annotations are +kubebuilder:metadata, in the order of the source.
	Labels, Annotations []KeyValue
}
