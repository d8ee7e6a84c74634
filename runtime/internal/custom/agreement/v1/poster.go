package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Poster has rules in CEL about fields that clients may leave out.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Poster struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PosterSpec `json:"spec"`
	// +kubebuilder:default={conditions: {{type: "Hung", status: "Unknown"}}}
	Status PosterStatus `json:"status,omitempty"`
}

// PosterStatus is the status of a Poster, with a list that has a default.
type PosterStatus struct {
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:default={{type: "Hung", status: "Unknown"},{type: "Seen", status: "Unknown"}}
	Conditions []PosterCondition `json:"conditions,omitempty"`
	Printed    []string          `json:"printed,omitempty"`
}

// PosterCondition says whether something holds.
type PosterCondition struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// PosterSpec is the specification of a Poster.
//
// +kubebuilder:validation:XValidation:rule="!has(self.logo) || size(self.logo.name) > 0",message="a logo has a name"
// +kubebuilder:validation:XValidation:rule="!has(self.hue) || has(self.logo)",message="a hue needs a logo"
type PosterSpec struct {
	Logo Logo   `json:"logo,omitempty"`
	Hue  string `json:"hue,omitempty"`
	// +kubebuilder:validation:MaxItems=5
	Sheets []Sheet `json:"sheets,omitempty"`
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:default={wall}
	Places []string `json:"places,omitempty"`
	// +optional
	Border PosterBorder `json:"border,omitempty,omitzero"`
	// +optional
	Back PosterBack `json:"back,omitempty,omitzero"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Free *PosterBack `json:"free,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Loose *PosterLoose `json:"loose,omitempty"`
}

// PosterLoose has a default, which no definition sets where the type is hidden.
type PosterLoose struct {
	// +kubebuilder:default=plain
	Paper string `json:"paper,omitempty"`
	Glue  string `json:"glue,omitempty"`
}

// PosterBorder has no required field.
type PosterBorder struct {
	Sides []string `json:"sides,omitempty"`
}

// PosterBack has no required field, and must not be empty.
//
// +kubebuilder:validation:MinProperties=1
type PosterBack struct {
	// +kubebuilder:validation:MaxLength=5
	Text  string   `json:"text,omitempty"`
	Marks []string `json:"marks,omitempty"`
}

// Sheet is in a list.
//
// +kubebuilder:validation:XValidation:rule="has(self.size) != has(self.scale)",message="has a size or a scale"
type Sheet struct {
	Size  Size   `json:"size,omitempty"`
	Scale *int32 `json:"scale,omitempty"`
}

// Size has only optional fields.
type Size struct {
	Width  int32 `json:"width,omitempty"`
	Height int32 `json:"height,omitempty"`
}

// PosterList is a list of Poster.
//
// +kubebuilder:object:root=true
type PosterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Poster `json:"items"`
}
