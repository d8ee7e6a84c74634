// Package v1beta1 has a kind.
//
// +k8s:deepcopy-gen=package
// +groupName=time.example.org
// +groupGoName=Sync
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Moment is a kind.
//
// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Moment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type MomentList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Moment `json:"items"`
}
