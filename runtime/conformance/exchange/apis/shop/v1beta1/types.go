package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Widget is what the shop sells.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:deprecatedversion:warning="shop.example.com/v1beta1 Widget is old"
// +apigen:requireResourceVersion
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas
// +kubebuilder:resource:shortName=wd,categories=shop
// +kubebuilder:printcolumn:name="Color",type=string,JSONPath=`.spec.color`
// +kubebuilder:printcolumn:name="Size",type=integer,JSONPath=`.spec.size`
// +kubebuilder:printcolumn:name="Note",type=string,priority=1,JSONPath=`.spec.note`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec WidgetSpec `json:"spec,omitempty"`
	// +optional
	Status WidgetStatus `json:"status,omitzero"`
}

// WidgetSpec is what a widget is to be.
type WidgetSpec struct {
	// color is what it looks like.
	// +kubebuilder:validation:Enum=red;green;blue
	Color string `json:"color"`
	// size is how large it is.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	Size *int32 `json:"size,omitempty"`
	// replicas is how many of it there are.
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`
	// note is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=20
	// +kubebuilder:validation:Pattern=`^[a-z ]*$`
	Note string `json:"note,omitempty"`
	// parts are what it is made of.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=5
	Parts []Part `json:"parts,omitempty"`
	// tags are how it is found.
	// +optional
	// +listType=set
	Tags []string `json:"tags,omitempty"`
	// options are what it can do.
	// +optional
	Options map[string]string `json:"options,omitempty"`
}

// Part is a piece of a widget.
type Part struct {
	// name tells parts apart.
	Name string `json:"name"`
	// weight is in grams.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Weight *int64 `json:"weight,omitempty"`
}

// WidgetStatus is what a widget is.
type WidgetStatus struct {
	// replicas is how many of it there are.
	// +optional
	// +kubebuilder:validation:Minimum=0
	Replicas *int32 `json:"replicas,omitempty"`
	// phase is how far it is.
	// +optional
	Phase string `json:"phase,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is a list of widgets.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}
