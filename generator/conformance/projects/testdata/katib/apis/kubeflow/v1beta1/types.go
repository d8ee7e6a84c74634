// Package v1beta1 has the kinds of Katib, which declares each in a package of its own.
//
// +groupName=kubeflow.org
package v1beta1

import (
	experiments "github.com/kubeflow/katib/pkg/apis/controller/experiments/v1beta1"
	suggestions "github.com/kubeflow/katib/pkg/apis/controller/suggestions/v1beta1"
	trials "github.com/kubeflow/katib/pkg/apis/controller/trials/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Experiment looks for the best hyperparameters.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Experiment struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   experiments.ExperimentSpec   `json:"spec,omitempty"`
	Status experiments.ExperimentStatus `json:"status,omitempty"`
}

// Trial tries values of an experiment's hyperparameters.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Trial struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   trials.TrialSpec   `json:"spec,omitempty"`
	Status trials.TrialStatus `json:"status,omitempty"`
}

// Suggestion has the values that an algorithm suggests.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Suggestion struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   suggestions.SuggestionSpec   `json:"spec,omitempty"`
	Status suggestions.SuggestionStatus `json:"status,omitempty"`
}
