package v1

import (
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Meter has fields whose types have a JSON form of their own.
//
// +kubebuilder:object:root=true
type Meter struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MeterSpec `json:"spec,omitempty"`
}

// MeterSpec is the specification of a Meter.
type MeterSpec struct {
	Timeout  metav1.Duration    `json:"timeout,omitempty"`
	Period   *metav1.Duration   `json:"period,omitempty"`
	Capacity resource.Quantity  `json:"capacity,omitempty"`
	Limit    *resource.Quantity `json:"limit,omitempty"`
	// +optional
	Since metav1.Time `json:"since,omitempty"`
	// +optional
	Until *metav1.Time       `json:"until,omitempty"`
	Port  intstr.IntOrString `json:"port,omitempty"`
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	Share *intstr.IntOrString `json:"share,omitempty"`
	Waits []Wait              `json:"waits,omitempty"`
	// +kubebuilder:validation:Pattern=`^[0-9]+(s|m)$`
	// +kubebuilder:validation:MaxLength=3
	Delay *metav1.Duration `json:"delay,omitempty"`
	// +kubebuilder:validation:MinLength=3
	Pause metav1.Duration `json:"pause,omitempty"`
	// +kubebuilder:validation:Pattern=`Z$`
	// +optional
	At *metav1.MicroTime `json:"at,omitempty"`
	// +kubebuilder:validation:items:Pattern=`s$`
	Steps []metav1.Duration `json:"steps,omitempty"`
	// +kubebuilder:default=wall
	Place    string             `json:"place"`
	Readings map[string]Reading `json:"readings,omitempty"`
	// +kubebuilder:default=round
	// +kubebuilder:validation:Enum=round;square
	Face  string `json:"face"`
	Glass Glass  `json:"glass,omitempty"`
	// +optional
	Panes []Glass `json:"panes"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=1
	Source  *Source  `json:"source,omitempty"`
	Sources []Source `json:"sources,omitempty"`
	Either  Either   `json:"either,omitempty"`
	Lens    *Lens    `json:"lens,omitempty"`
}

// Lens is atomic, as it has the fields of an atomic struct.
type Lens struct {
	Rim  `json:",inline"`
	Tint string `json:"tint,omitempty"`
}

// Rim is atomic.
//
// +structType=atomic
type Rim struct {
	Width int32 `json:"width,omitempty"`
}

// Source has a number of members that is bounded.
//
// +kubebuilder:validation:MaxProperties=2
type Source struct {
	Store *Reading `json:"store,omitempty"`
	Glass Glass    `json:"glass,omitempty"`
	Name  string   `json:"name,omitempty"`
	Wide  bool     `json:"wide"`
}

// Either has one of two members, and at most one of three.
//
// +kubebuilder:validation:ExactlyOneOf=left;right
// +kubebuilder:validation:AtMostOneOf=left;middle;over
type Either struct {
	Left   string   `json:"left,omitempty"`
	Right  *Wait    `json:"right,omitempty"`
	Middle Reading  `json:"middle,omitempty"`
	Over   []string `json:"over,omitempty"`
}

// Glass has rules that refuse zero values, of fields of which Go writes them.
type Glass struct {
	// +kubebuilder:default=clear
	// +kubebuilder:validation:Enum=clear;dim
	Tint string `json:"tint"`
	// +kubebuilder:validation:Minimum=1
	Width int32 `json:"width"`
	// +optional
	// +kubebuilder:validation:MinLength=1
	Form string `json:"form"`
}

// Wait is in a list.
type Wait struct {
	For metav1.Duration `json:"for,omitempty"`
	// +required
	Of string `json:"of"`
}

// Reading has a default of which Go writes the zero value.
type Reading struct {
	Digits int32 `json:"digits"`
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=0
	Times int32 `json:"times"`
}

// MeterList is a list of Meter.
//
// +kubebuilder:object:root=true
type MeterList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Meter `json:"items"`
}
