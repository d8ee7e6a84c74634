// Package v1 has kinds that servers of one's own are fine with. Clusters refuse their definitions, each for one thing.
//
// +groupName=refused.example.com
package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Selected is selected by what isn't exact.
//
// +kubebuilder:object:root=true
// +kubebuilder:selectablefield:JSONPath=.spec.share
type Selected struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Located is selected by metadata.
//
// +kubebuilder:object:root=true
// +kubebuilder:selectablefield:JSONPath=.metadata.namespace
type Located struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Much has many selectable fields.
//
// +kubebuilder:object:root=true
// +kubebuilder:selectablefield:JSONPath=.spec.a
// +kubebuilder:selectablefield:JSONPath=.spec.b
// +kubebuilder:selectablefield:JSONPath=.spec.c
// +kubebuilder:selectablefield:JSONPath=.spec.d
// +kubebuilder:selectablefield:JSONPath=.spec.e
// +kubebuilder:selectablefield:JSONPath=.spec.f
// +kubebuilder:selectablefield:JSONPath=.spec.g
// +kubebuilder:selectablefield:JSONPath=.spec.h
// +kubebuilder:selectablefield:JSONPath=.spec.size
type Much struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Scaled tells its scale in the wrong place.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:scale:specpath=.spec.size,statuspath=.spec.size
type Scaled struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec Spec `json:"spec"`
}

// Shapeless says nothing of a field.
//
// +kubebuilder:object:root=true
type Shapeless struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:Schemaless
	Spec string `json:"spec"`
}

// Grouped has a set of objects.
//
// +kubebuilder:object:root=true
type Grouped struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +listType=set
	Spec []Spec `json:"spec"`
}

// Keyed has a list whose keys may be left out.
//
// +kubebuilder:object:root=true
type Keyed struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +listType=map
	// +listMapKey=name
	Spec []Part `json:"spec"`
}

// Changing has what must not change in a list without keys.
//
// +kubebuilder:object:root=true
type Changing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +k8s:eachVal=+k8s:immutable
	// +kubebuilder:validation:items:MaxLength=9
	// +kubebuilder:validation:MaxItems=9
	Spec []string `json:"spec"`
}

// Choosing has one of two members, one of which may be anything.
//
// +kubebuilder:object:root=true
// +kubebuilder:validation:ExactlyOneOf=name;any
type Choosing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Name string               `json:"name,omitempty"`
	Any  apiextensionsv1.JSON `json:"any,omitempty"`
}

// Part may have a name.
type Part struct {
	Name string `json:"name,omitempty"`
}

// Spec has fields.
type Spec struct {
	Size  int32    `json:"size"`
	Share float64  `json:"share"`
	List  []string `json:"list"`

	A string `json:"a"`
	B string `json:"b"`
	C string `json:"c"`
	D string `json:"d"`
	E string `json:"e"`
	F string `json:"f"`
	G string `json:"g"`
	H string `json:"h"`
}
