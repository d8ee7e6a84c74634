package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Memo is what somebody wants to remember.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=memos
// +kubebuilder:storageversion
// +kubebuilder:resource:shortName=mm
// +kubebuilder:printcolumn:name="Text",type=string,JSONPath=`.text`
type Memo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Text is what there is to remember.
	Text string `json:"text,omitempty"`
	// Ink is what it is written with.
	// +optional
	Ink []byte `json:"ink,omitempty"`
	// Weight is that of the paper.
	// +optional
	Weight float64 `json:"weight,omitempty"`
}

// MemoList is a list of memos.
//
// +kubebuilder:object:root=true
type MemoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Memo `json:"items"`
}

// Desk has no protobuf.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:scope=Cluster
type Desk struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Drawers is how many there are.
	Drawers int32 `json:"drawers,omitempty"`
}

// DeskList is a list of desks.
//
// +kubebuilder:object:root=true
type DeskList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Desk `json:"items"`
}
