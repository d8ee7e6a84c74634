package v1

import (
	"net"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Widget is a kind.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta `json:",inline"`
	// +k8s:subfield(name)=+k8s:optional
	// +k8s:subfield(name)=+k8s:format=k8s-short-name
	metav1.ObjectMeta `json:"metadata,omitempty"`

	CRD         CRD         `json:"crd,omitempty"`
	Declarative Declarative `json:"declarative,omitempty"`
	Status      Status      `json:"status,omitempty"`
}

// CRD has the rules of controller-gen's markers.
//
// +kubebuilder:validation:AtMostOneOf=left;right
type CRD struct {
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=9
	Bounded int32 `json:"bounded,omitempty"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:ExclusiveMinimum=true
	// +kubebuilder:validation:Maximum=9
	// +kubebuilder:validation:ExclusiveMaximum=true
	Between *int64 `json:"between,omitempty"`
	// +kubebuilder:validation:MultipleOf=5
	Fives uint16 `json:"fives,omitempty"`
	// +kubebuilder:validation:Minimum=0.5
	// +kubebuilder:validation:MultipleOf=0.1
	Ratio *float64 `json:"ratio,omitempty"`
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=4
	Text string `json:"text,omitempty"`
	// +kubebuilder:validation:Pattern=`^[a-z]+\d$`
	Pattern *string  `json:"pattern,omitempty"`
	Header  Header   `json:"header,omitempty"`
	Headers []Header `json:"headers,omitempty"`
	// +kubebuilder:validation:Enum=small;large
	Size string `json:"size,omitempty"`
	// +kubebuilder:validation:Enum=1;2;4
	Power int32 `json:"power,omitempty"`
	// +kubebuilder:validation:MinItems=2
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=3
	// +kubebuilder:validation:items:Enum=a;b;c;long
	List []string `json:"list,omitempty"`
	// +kubebuilder:validation:UniqueItems=true
	Uniques []int32 `json:"uniques,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=2
	// +kubebuilder:validation:items:Minimum=1
	Counts map[string]int32 `json:"counts,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	Part *Part `json:"part,omitempty"`
	// +optional
	Optional Part `json:"optional,omitempty"`
	// +kubebuilder:validation:MaxProperties=3
	Bundle *Bundle `json:"bundle,omitempty"`
	// +kubebuilder:validation:Required
	Needed *string `json:"needed"`
	// +kubebuilder:validation:Required
	// +nullable
	Nullable *string `json:"nullable"`
	// +kubebuilder:validation:Format=date-time
	DateTime string `json:"dateTime,omitempty"`
	// +kubebuilder:validation:Format=ipv4
	IPv4 string `json:"ipv4,omitempty"`
	// +kubebuilder:validation:Format=uuid
	UUID string `json:"uuid,omitempty"`
	// +kubebuilder:validation:Format=cidr
	CIDR string `json:"cidr,omitempty"`
	// +kubebuilder:validation:MaxLength=8
	Bytes []byte `json:"bytes,omitempty"`
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern=`^[0-9]+%$`
	// +kubebuilder:validation:Minimum=1
	Share *intstr.IntOrString `json:"share,omitempty"`
	// +listType=map
	// +listMapKey=name
	Ports []Port `json:"ports,omitempty"`
	// +listType=set
	Set    []Level          `json:"set,omitempty"`
	Nested [][]Level        `json:"nested,omitempty"`
	ByName map[string]*Port `json:"byName,omitempty"`
	Left   string           `json:"left,omitempty"`
	Right  *int32           `json:"right,omitempty"`
	// Anonymous has no name.
	Anonymous struct {
		// +kubebuilder:validation:MaxLength=2
		Short string `json:"short,omitempty"`
	} `json:"anonymous,omitempty"`
	// +kubebuilder:validation:MaxItems=1
	Sealed   []Sealed `json:"sealed,omitempty"`
	Embedded `json:",inline"`
}

// Sealed has fields that aren't on the wire.
type Sealed struct {
	// +kubebuilder:validation:MinLength=1
	Text   string `json:"text"`
	opened []int
	_      []string
}

// countSet has the name of what generated code would call.
func countSet(s Sealed) int { return len(s.opened) }

var _ = countSet

// Embedded stands in the objects that embed it.
type Embedded struct {
	// +kubebuilder:validation:MaxLength=5
	Inherited string `json:"inherited,omitempty"`
}

// Part must have something in it where it stands.
type Part struct {
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name,omitempty"`
	// +kubebuilder:validation:Minimum=1
	Number *int32 `json:"number,omitempty"`
	// +kubebuilder:validation:MinLength=1
	Must string `json:"must"`
}

// Bundle has fields of its own, of a struct and behind a pointer, which all count.
type Bundle struct {
	Wrap  `json:",inline"`
	*Cord `json:",inline"`
	Loose Slack `json:"loose,omitempty"`
	// +optional
	From net.IP `json:"from"`
}

// Wrap is around a bundle.
type Wrap struct {
	Paper string `json:"paper,omitempty"`
}

// Cord holds a bundle.
type Cord struct {
	Length int32 `json:"length,omitempty"`
}

// Slack is a bool with a name.
type Slack bool

// Port has a rule on its type and on its field.
type Port struct {
	Name   string `json:"name"`
	Number Number `json:"number,omitempty"`
	Next   *Port  `json:"next,omitempty"`
}

// Number is that of a port.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=65535
type Number int32

// Header is declared over another type, whose rules hold for it.
//
// +kubebuilder:validation:MaxLength=6
type Header Token

// Token has a rule.
//
// +kubebuilder:validation:Pattern=`^[A-Z]+$`
type Token string

// Level is an enumeration.
//
// +kubebuilder:validation:Enum=Low;High
type Level string

// Status is written by controllers.
type Status struct {
	// +kubebuilder:validation:Minimum=0
	Ready int32 `json:"ready,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// WidgetList is a list of Widget.
//
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}
