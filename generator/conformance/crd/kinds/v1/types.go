package v1

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Everything is one.
// It has two lines.
//
//   - and a list
//   - of two
//
// TODO(someone): not this.
//
// And a paragraph.
//
// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:path=everythings,singular=everything,shortName=ev;evs,categories={all,things},scope=Cluster
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:printcolumn:name="Color",type=string,description="Of it",format=byte,priority=1,JSONPath=`.spec.color`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:selectablefield:JSONPath=`.spec.color`
// +kubebuilder:metadata:labels="c=d",annotations="api-approved.kubernetes.io=unapproved, for tests"
// +kubebuilder:metadata:labels={"a=b"},annotations={"one=1","two=2"}
// +kubebuilder:validation:XValidation:rule="self.metadata.name != 'none'",message="none is no name"
type Everything struct {
	metav1.TypeMeta `json:",inline"`
	// Metadata is said by the server.
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Spec says what it is.
	// +required
	Spec EverythingSpec `json:"spec"`
	// +optional
	Status EverythingStatus `json:"status,omitempty"`
}

// EverythingSpec says what it is.
//
// +kubebuilder:validation:XValidation:rule="self.min <= self.max",messageExpression="self.min > 9 ? 'min is great' : 'min is above max'",reason=FieldValueForbidden,fieldPath=".min"
// +kubebuilder:validation:MaxProperties=100
type EverythingSpec struct {
	Common      `json:",inline"`
	*CommonMore `json:",inline"`
	Choice      Choice `json:"choice"`
	Replicas    *int32 `json:"replicas,omitempty"`
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10
	// +kubebuilder:validation:ExclusiveMaximum=true
	// +kubebuilder:validation:MultipleOf=2
	Min int64 `json:"min"`
	// +kubebuilder:example=5
	// +kubebuilder:title="The greatest"
	Max int `json:"max"`
	// +kubebuilder:default=Red
	Color Color `json:"color,omitempty"`
	// Another color.
	// +kubebuilder:validation:MaxLength=3
	Other *Color `json:"other,omitempty"`
	// +kubebuilder:validation:MinLength=2
	Host Hostname `json:"host,omitempty"`
	// +kubebuilder:validation:Pattern=`^[a-z]+\.$`
	// +kubebuilder:validation:Format=hostname
	Name string `json:"name,omitempty"`
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=20
	Parts []Part `json:"parts,omitempty"`
	// +listType=set
	// +kubebuilder:validation:items:MaxLength=9
	// +kubebuilder:validation:items:Pattern=`^a`
	// +kubebuilder:validation:items:Enum=a;ab;"a b"
	Names []string `json:"names,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:items:MaxLength=9
	Colors []Color `json:"colors,omitempty"`
	// +mapType=atomic
	Map map[string]int32 `json:"map,omitempty"`
	// +structType=atomic
	Whole Part `json:"whole,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	Parted map[Color]Part                `json:"parted,omitempty"`
	Nested map[string][]map[string]*Part `json:"nested,omitempty"`

	// +nullable
	Nullable *string `json:"nullable"`
	// +kubebuilder:pruning:PreserveUnknownFields
	Open Part `json:"open,omitempty"`
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:EmbeddedResource
	Resource runtime.RawExtension `json:"resource,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Type=object
	Free *EverythingSpec      `json:"free,omitempty"`
	Any  apiextensionsv1.JSON `json:"any,omitempty"`
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Type=""
	Either intstr.IntOrString  `json:"either,omitempty"`
	Port   intstr.IntOrString  `json:"port,omitempty"`
	Size   resource.Quantity   `json:"size,omitempty"`
	Limits corev1.ResourceList `json:"limits,omitempty"`
	Bytes  []byte              `json:"bytes,omitempty"`
	Wait   metav1.Duration     `json:"wait,omitempty"`
	// Span in nanoseconds.
	Span  time.Duration `json:"span,omitempty"`
	Since *metav1.Time  `json:"since,omitempty"`
	Odd   Odd           `json:"odd,omitempty"`
	Word  Word          `json:"word,omitempty"`
	Small uint8         `json:"small,omitempty"`
	Wide  uint32        `json:"wide,omitempty"`
	Share float64       `json:"share,omitempty"`
	// +kubebuilder:validation:XValidation:rule="!oldSelf.hasValue() || self.size() >= oldSelf.value().size()",message="it never becomes shorter",optionalOldSelf=true,reason="FieldValueInvalid"
	// +kubebuilder:validation:MaxItems=5
	// +kubebuilder:validation:XValidation:rule="self.all(c, c != 'Red')",message=`"Red" is not for lists`
	Ruled []Color `json:"ruled,omitempty"`
	// +kubebuilder:externalDocs:url="https://example.com/docs",description="More of it"
	Docs string `json:"docs,omitempty"`
	// +k8s:immutable
	Fixed string `json:"fixed,omitempty"`
	// +k8s:required
	Needed string `json:"needed,omitempty"`
	// +k8s:required
	NeededParts []Part `json:"neededParts,omitempty"`
	// +k8s:required
	NeededPart *Part `json:"neededPart,omitempty"`
	// +optional
	Spared string `json:"spared"`
	// +kubebuilder:validation:Optional
	// +required
	Both string `json:"both"`
	// +optional
	// +kubebuilder:validation:Required
	Neither string `json:"neither,omitempty"`
	// +kubebuilder:default={a,b}
	List []string `json:"list,omitempty"`
	// +kubebuilder:default={}
	// +listType=atomic
	Empty []string `json:"empty,omitempty"`
	// +kubebuilder:default={name: "x", weight: 3}
	Defaulted Part `json:"defaulted,omitempty"`
	// +default=true
	Twice bool `json:"twice,omitempty"`
	// +default={"name": "json"}
	Kube     Part                        `json:"kube,omitempty"`
	Level    Level                       `json:"level,omitempty"`
	Selector *metav1.LabelSelector       `json:"selector,omitempty"`
	Secret   corev1.LocalObjectReference `json:"secret,omitempty"`
	Template corev1.PodTemplateSpec      `json:"template,omitempty"`
	Meta     metav1.ObjectMeta           `json:"meta,omitempty"`
	Zero     Zeroed                      `json:"zero,omitzero"`

	Hidden string `json:"-"`
}

// Common is inlined.
//
// +kubebuilder:validation:XValidation:rule="size(self.owner) > 0"
type Common struct {
	// Owner owns it.
	Owner string `json:"owner"`
}

// CommonMore is inlined through a pointer.
type CommonMore struct {
	// More of it.
	More string `json:"more,omitempty"`
}

// Choice is one of several.
//
// +kubebuilder:validation:ExactlyOneOf=a;b
// +kubebuilder:validation:AtMostOneOf=c;d
// +kubebuilder:validation:AtLeastOneOf=a;c
// +kubebuilder:validation:XValidation:rule="true"
type Choice struct {
	A *string `json:"a,omitempty"`
	B *string `json:"b,omitempty"`
	C *string `json:"c,omitempty"`
	D *string `json:"d,omitempty"`
}

// Color is a color.
//
// +kubebuilder:validation:Enum=Red;Blue
// +kubebuilder:validation:MaxLength=10
type Color string

// Level is one of its constants.
//
// +k8s:enum
type Level string

// The levels.
const (
	Low  Level = "Low"
	High Level = "High"
)

// DNSName is a name.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z.]+$`
type DNSName string

// Hostname is a name, too.
//
// +kubebuilder:validation:MaxLength=253
type Hostname DNSName

// Part has a name.
//
// ---
// This is for developers.
type Part struct {
	// Name of it.
	// +kubebuilder:validation:MaxLength=63
	Name string `json:"name"`
	/*
		Weight is said
		in a block.
	*/
	Weight int32 `json:"weight,omitempty"`
	// +kubebuilder:validation:MaxItems=5
	Colors []Color `json:"colors,omitempty"`
}

// Zeroed is left out where it is zero.
type Zeroed struct {
	// Value of it.
	Value Stack `json:"value,omitempty"`
}

// Stack is a list of its own.
//
// +kubebuilder:validation:MaxItems=4
// +kubebuilder:validation:items:MinLength=1
// +listType=set
type Stack []string

// Odd writes itself.
//
// +kubebuilder:validation:Type=string
// +kubebuilder:validation:Format=date
type Odd struct {
	Year, Month int
}

// MarshalJSON writes it.
func (o Odd) MarshalJSON() ([]byte, error) { return nil, nil }

// Word writes itself as text.
//
// +kubebuilder:validation:MaxLength=7
type Word struct {
	letters [7]byte
}

// MarshalText writes it.
func (w *Word) MarshalText() ([]byte, error) { return w.letters[:], nil }

// UnmarshalText reads it.
func (w *Word) UnmarshalText(text []byte) error {
	*w = Word{}
	copy(w.letters[:], text)
	return nil
}

// EverythingStatus is what was seen.
type EverythingStatus struct {
	Replicas int32  `json:"replicas,omitempty"`
	Selector string `json:"selector,omitempty"`
	// Conditions of it.
	// +listType=map
	// +listMapKey=type
	// +patchStrategy=merge
	Conditions []metav1.Condition `json:"conditions,omitempty" patchStrategy:"merge" patchMergeKey:"type"`
}

// DeepCopyObject makes it an object.
func (e *Everything) DeepCopyObject() runtime.Object { return e }
