package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Leaflet has fields whose types are aliases with markers.
//
// +kubebuilder:object:root=true
type Leaflet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec LeafletSpec `json:"spec"`
}

// LeafletSpec is the specification of a Leaflet.
type LeafletSpec struct {
	Grade LeafletGrade `json:"grade,omitempty"`
	// Label has a rule of its own beside those of the alias.
	// +kubebuilder:validation:MinLength=1
	Label  *LeafletLabel  `json:"label,omitempty"`
	Sizes  LeafletSizes   `json:"sizes,omitempty"`
	Format *LeafletFormat `json:"format,omitempty"`
}

// LeafletGrade is how well it is printed.
//
// +kubebuilder:validation:Enum=1;2;3
// +default=2
type LeafletGrade = int32

// LeafletLabel stands below it.
//
// +kubebuilder:validation:MaxLength=2
type LeafletLabel = string

// LeafletSizes are the widths in which it is printed.
//
// +listType=set
// +kubebuilder:validation:MaxItems=2
type LeafletSizes = []int32

// LeafletFormat is a size that is small.
//
// +kubebuilder:validation:XValidation:rule="!has(self.width) || self.width < 3",message="a leaflet is narrow"
type LeafletFormat = Size
