package v1

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// PodDisruptionBudget is an object to define the max disruption that can be caused to a collection of pods
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=poddisruptionbudgets,shortName=pdb
// +apigen:requireResourceVersion
// +apigen:printcolumn:name="Min Available",type=string,method=MinAvailableColumn,description="The minimum number of pods that must be available."
// +apigen:printcolumn:name="Max Unavailable",type=string,method=MaxUnavailableColumn,description="The maximum number of pods that may be unavailable."
// +kubebuilder:printcolumn:name="Allowed Disruptions",type=integer,JSONPath=`.status.disruptionsAllowed`,description="Calculated number of pods that may be disrupted at this time."
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type PodDisruptionBudget struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the specification of the desired behavior of the PodDisruptionBudget.
	// +optional
	Spec policyv1.PodDisruptionBudgetSpec `json:"spec,omitempty"`
	// status is the most recently observed status of the PodDisruptionBudget.
	// +optional
	Status policyv1.PodDisruptionBudgetStatus `json:"status,omitempty"`
}

// PodDisruptionBudgetList is a collection of PodDisruptionBudgets.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type PodDisruptionBudgetList struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object's metadata.
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items is a list of PodDisruptionBudgets
	Items []PodDisruptionBudget `json:"items"`
}
