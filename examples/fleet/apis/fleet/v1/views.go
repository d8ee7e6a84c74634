package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Tide is the water's height in a harbour, as the harbour tells it: nothing is stored here.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Height",type=integer,JSONPath=`.heightCentimetres`
// +kubebuilder:selectablefield:JSONPath=`.harbour`
// +apigen:storage=none
// +genclient:onlyVerbs=get,list,watch
type Tide struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Harbour           string `json:"harbour"`
	HeightCentimetres int32  `json:"heightCentimetres"`
}

// TideList is a list of tides.
//
// +kubebuilder:object:root=true
type TideList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Tide `json:"items"`
}

// PassageReview asks whether a ship of a certain draught gets into a harbour. It is answered, and not kept.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:scope=Cluster
// +apigen:storage=none
// +genclient:onlyVerbs=create
type PassageReview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec PassageReviewSpec `json:"spec"`
	// +optional
	Status PassageReviewStatus `json:"status,omitempty"`
}

// PassageReviewSpec is the question.
type PassageReviewSpec struct {
	// Harbour is where the ship wants to go, as namespace/name of its tide.
	Harbour string `json:"harbour"`
	// +kubebuilder:validation:Minimum=0
	DraughtCentimetres int32 `json:"draughtCentimetres"`
}

// PassageReviewStatus is the answer.
type PassageReviewStatus struct {
	Allowed bool `json:"allowed"`
	// +optional
	Reason string `json:"reason,omitempty"`
}
