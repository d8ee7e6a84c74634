package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// LongNamed has the rule of kinds without a marker.
//
// +kubebuilder:object:root=true
type LongNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// ShortNamed has names like those of Namespace.
//
// +kubebuilder:object:root=true
// +apigen:name=k8s-short-name
type ShortNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// PathNamed has names like those of ClusterRole.
//
// +kubebuilder:object:root=true
// +apigen:name=k8s-path-segment-name
type PathNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// AnyNamed has names like those of Event.
//
// +kubebuilder:object:root=true
// +apigen:name=any
type AnyNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// IPNamed has names like those of IPAddress.
//
// +kubebuilder:object:root=true
// +apigen:name=ip
type IPNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// CronNamed has names like those of CronJob.
//
// +kubebuilder:object:root=true
type CronNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// PluralNamed has names like those of CustomResourceDefinition.
//
// +kubebuilder:object:root=true
type PluralNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// VersionNamed has names like those of APIService.
//
// +kubebuilder:object:root=true
// +apigen:name=k8s-path-segment-name
type VersionNamed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// Review has no name that anybody checks, like SelfSubjectReview.
//
// +kubebuilder:object:root=true
// +apigen:storage=none
// +apigen:verbs=create
type Review struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// NamelessReview has no name, like SubjectAccessReview.
//
// +kubebuilder:object:root=true
// +apigen:storage=none
// +apigen:verbs=create
type NamelessReview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// LocalReview has no name, like LocalSubjectAccessReview.
//
// +kubebuilder:object:root=true
// +apigen:storage=none
// +apigen:verbs=create
type LocalReview struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeclaredNamed has names like those of ReplicationController, whose rule stands at their metadata.
//
// +kubebuilder:object:root=true
type DeclaredNamed struct {
	metav1.TypeMeta `json:",inline"`
	// +k8s:subfield(name)=+k8s:optional
	// +k8s:subfield(name)=+k8s:format=k8s-long-name
	metav1.ObjectMeta `json:"metadata,omitempty"`
}
