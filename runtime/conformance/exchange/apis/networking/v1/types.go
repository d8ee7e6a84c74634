package v1

import (
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// IngressClass represents the class of the Ingress, referenced by the Ingress Spec.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:resource:path=ingressclasses,scope=Cluster
// +kubebuilder:printcolumn:name="Controller",type=string,JSONPath=`.spec.controller`,description="Controller that is responsible for handling this class"
// +apigen:printcolumn:name="Parameters",type=string,method=ParametersColumn,description="A reference to a resource with additional parameters"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IngressClass struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// spec is the desired state of the IngressClass.
	// +optional
	Spec networkingv1.IngressClassSpec `json:"spec,omitempty"`
}

// IngressClassList is a collection of IngressClasses.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type IngressClassList struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ListMeta `json:"metadata,omitempty"`

	// items is the list of IngressClasses.
	Items []IngressClass `json:"items"`
}
