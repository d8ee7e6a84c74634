package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Sign has optional structs that are no pointers.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Sign struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec SignSpec `json:"spec,omitempty"`
	// +default={}
	Status SignStatus `json:"status,omitempty"`
}

// SignSpec is the specification of a Sign.
type SignSpec struct {
	Logo Logo `json:"logo,omitempty"`
	// +optional
	Frame Frame `json:"frame,omitzero"`
	// +optional
	Border *Frame `json:"border,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	Margin Margin `json:"margin,omitempty"`
	// +kubebuilder:validation:Enum=low;high
	// +optional
	Place string `json:"place,omitempty"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Height int32 `json:"height,omitempty"`
	// +kubebuilder:validation:MinLength=2
	Title string `json:"title,omitempty"`
	// +kubebuilder:validation:MinItems=1
	Lines []Line `json:"lines,omitempty"`
	// +listType=map
	// +listMapKey=name
	Lamps []Lamp `json:"lamps,omitempty"`
	// +optional
	Parts map[string]Line `json:"parts,omitempty"`
	// +nullable
	Note *string `json:"note,omitempty"`
	// +nullable
	Back  *Logo  `json:"back,omitempty"`
	Mount *Mount `json:"mount,omitempty"`
	// +kubebuilder:validation:Enum=warm;cold
	// +kubebuilder:default=warm
	Light string `json:"light,omitempty"`
	Photo []byte `json:"photo,omitempty"`
	// Sketches, Layers and Named have bytes as elements.
	Sketches [][]byte          `json:"sketches,omitempty"`
	Layers   [][][]byte        `json:"layers,omitempty"`
	Named    map[string][]byte `json:"named,omitempty"`
	Proof    *[]byte           `json:"proof,omitempty"`
	Base     `json:",inline"`
}

// Mount has a required struct in which all have defaults.
type Mount struct {
	// +required
	Pole Pole `json:"pole"`
	// +required
	Rest Rest `json:"rest,omitempty,omitzero"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:default=2
	Bolts int32 `json:"bolts,omitempty"`
}

// Rest has only an optional field, so that an empty one is right.
type Rest struct {
	Width *int32 `json:"width,omitempty"`
}

// Pole has only fields with defaults.
type Pole struct {
	// +kubebuilder:default=4
	Height int32 `json:"height,omitempty"`
	Foot   Foot  `json:"foot,omitempty"`
}

// Foot has a default.
type Foot struct {
	// +kubebuilder:default=stone
	Material string `json:"material,omitempty"`
	Depth    int32  `json:"depth,omitempty"`
}

// Base stands in the objects that embed it.
type Base struct {
	Inner Logo `json:"inner,omitempty"`
	// +kubebuilder:validation:Enum=wood;steel
	Material string `json:"material,omitempty"`
}

// Logo has a required field.
type Logo struct {
	// +required
	Name string `json:"name"`
	// +kubebuilder:validation:Enum=round;square
	Shape string `json:"shape,omitempty"`
}

// Frame has a default beside a required enumeration.
type Frame struct {
	// +kubebuilder:default=3
	Width int32 `json:"width,omitempty"`
	// +required
	// +kubebuilder:validation:Enum=red;blue
	Color string `json:"color"`
}

// Margin has only optional fields.
type Margin struct {
	// +kubebuilder:validation:Minimum=1
	Left *int32 `json:"left,omitempty"`
	// +kubebuilder:validation:Minimum=1
	Right int32 `json:"right,omitempty"`
}

// Line is in lists and maps.
type Line struct {
	Text string `json:"text"`
	Logo Logo   `json:"logo,omitempty"`
	// +optional
	Frame Frame `json:"frame,omitzero"`
	// +kubebuilder:validation:Enum=left;right
	Side string `json:"side,omitempty"`
}

// Lamp is in a list with keys.
type Lamp struct {
	// +required
	Name   string `json:"name"`
	Margin Margin `json:"margin,omitempty"`
	// +kubebuilder:validation:Minimum=1
	Watts int32 `json:"watts,omitempty"`
}

// SignStatus is the status of a Sign.
type SignStatus struct {
	Seen Logo `json:"seen,omitempty"`
	// +default="dark"
	Phase string `json:"phase,omitempty"`
}

// SignList is a list of Sign.
//
// +kubebuilder:object:root=true
type SignList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Sign `json:"items"`
}
