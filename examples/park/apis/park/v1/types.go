package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Park is a green place in the city. There are no namespaces for them: a city has one park of a name.
//
// This version is the one that is stored, and so the hub: other versions are converted to it,
// and all logic works on it.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:scope=Cluster,shortName=pk
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Area",type=number,JSONPath=`.spec.areaHectares`
// +kubebuilder:printcolumn:name="Trees",type=integer,JSONPath=`.spec.trees`
// +kubebuilder:printcolumn:name="Open",type=boolean,JSONPath=`.status.open`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.district`
// +apigen:createOnUpdate
type Park struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ParkSpec   `json:"spec,omitempty"`
	Status ParkStatus `json:"status,omitempty"`
}

// ParkSpec is what the park is to be.
type ParkSpec struct {
	// District of the city.
	// +optional
	District string `json:"district,omitempty"`
	// AreaHectares is its size.
	// +optional
	// +kubebuilder:validation:Minimum=0
	AreaHectares float64 `json:"areaHectares,omitempty"`
	// Trees that are to stand there.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Trees int32 `json:"trees,omitempty"`
	// Fountains came with v1: objects in v1beta1 carry them in an annotation.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +apigen:conversion:preserve
	Fountains *int32 `json:"fountains,omitempty"`
	// Paths by name, in any order.
	// +optional
	// +listType=map
	// +listMapKey=name
	Paths []Path `json:"paths,omitempty"`
	// PlantedBy is who asked for the park; the server sets it.
	// +optional
	PlantedBy string `json:"plantedBy,omitempty"`
}

// Path leads through a park.
type Path struct {
	Name string `json:"name"`
	// Lit paths have lamps.
	// +optional
	// +default=true
	Lit *bool `json:"lit,omitempty"`
	// Surface of the path, which v1beta1 knows nothing of.
	// +optional
	// +apigen:conversion:preserve
	Surface string `json:"surface,omitempty"`
}

// ParkStatus is what the park is like.
type ParkStatus struct {
	// +optional
	Open bool `json:"open,omitempty"`
}

// ParkList is a list of parks.
//
// +kubebuilder:object:root=true
type ParkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Park `json:"items"`
}
