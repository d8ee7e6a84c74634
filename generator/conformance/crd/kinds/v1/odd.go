package v1

import (
	"encoding/json"
	"net/url"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// +kubebuilder:object:root=true
// +kubebuilder:storageversion
// +kubebuilder:resource:singular=oddity

// Oddment stands apart from its markers.
type Oddment struct {
	/*
	 */
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec OddmentSpec `json:"spec,omitempty"`
}

// DeepCopyObject makes it an object.
func (o *Oddment) DeepCopyObject() runtime.Object { return o }

// OddmentSpec is full of shapes.
type OddmentSpec struct {
	Bytes    map[string][]byte                       `json:"bytes,omitempty"`
	Pointers map[string]*string                      `json:"pointers,omitempty"`
	Maps     map[string]map[string]map[string]string `json:"maps,omitempty"`
	Floats   map[string][]float64                    `json:"floats,omitempty"`
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:pruning:PreserveUnknownFields
	Nothing []byte `json:"nothing,omitempty"`
	// A percentage,
	//
	// or a number.
	//
	// +kubebuilder:validation:XIntOrString
	// +kubebuilder:validation:Pattern="^((100|[0-9]{1,2})%|[0-9]+)$"
	Share *intstr.IntOrString `json:"share,omitempty"`
	// +kubebuilder:default={{part: {name: "baz", weight: 3}},{part: {name: "b c"}}}
	Defaulted []Whole `json:"defaulted,omitempty"`
	// +kubebuilder:default:={"a":{"b":"c"}}
	Nested map[string]map[string]string `json:"nested,omitempty"`
	// +kubebuilder:default="10s"
	Period *metav1.Duration `json:"period,omitempty"`
	// +kubebuilder:default=80
	Target intstr.IntOrString `json:"target,omitempty"`
	// +kubebuilder:default=info
	// +kubebuilder:validation:Enum={info,"warn ing",debug}
	Verbosity string `json:"verbosity,omitempty"`
	// +kubebuilder:validation:Enum=1;2;3
	Number int32 `json:"number,omitempty"`
	// +kubebuilder:example={name: x}
	Same    *SamePart   `json:"same,omitempty"`
	Alias   AliasPart   `json:"alias,omitempty"`
	Aliased []AliasPart `json:"aliased,omitempty"`
	// Foreign is of another package.
	Foreign Reference        `json:"foreign,omitempty"`
	Free    Preserved        `json:"free,omitempty"`
	Yes     TextBool         `json:"yes,omitempty"`
	URL     *URL             `json:"url,omitempty"`
	Over    *OverURL         `json:"over,omitempty"`
	Plain   Plain            `json:"plain,omitempty"`
	Span    time.Duration    `json:"span,omitempty"`
	Micro   metav1.MicroTime `json:"micro,omitempty"`
	Grouped Grouped          `json:"grouped,omitempty"`
	Instead *Instead         `json:"instead,omitempty"`
	// Lines of all sorts:
	// 1. one
	// 2. two
	//
	// TODO: nobody reads this
	// but this
	//
	//	indented
	//
	//
	// ```
	// TODO in code
	// --- in code
	// ```
	// + a line that begins with a plus
	//
	// ---
	// Not this.
	Lines string `json:"lines,omitempty"`
	/* A block */
	Block string `json:"block,omitempty"`
	// +optional

	// Apart from its marker.
	Apart string `json:"apart"`
	// Unicode: ü, "quotes", 'more', `back` and <tags> & such: yes
	Text string `json:"text,omitempty"`

	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:XValidation:rule="self != 'x'",message="no x"
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:items:MaxLength=3
	Words []string `json:"words,omitempty"`
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:ExclusiveMinimum=true
	// +kubebuilder:validation:items:Maximum=9
	// +kubebuilder:validation:items:MultipleOf=2
	// +kubebuilder:validation:items:Format=int64
	Numbers []int32 `json:"numbers,omitempty"`
	// +listType=set
	Stack Stack `json:"stack,omitempty"`
	// +mapType=granular
	Labels Labels `json:"labels,omitempty"`
	// +kubebuilder:validation:Format=date-time
	// +kubebuilder:validation:MinLength=0
	Date string `json:"date,omitempty"`
	// +kubebuilder:validation:Minimum=-5
	// +kubebuilder:validation:Maximum=9223372036854775807
	Big *int64 `json:"big,omitempty"`
	// +kubebuilder:validation:Minimum=0.5
	Fraction float32 `json:"fraction,omitempty"`
	// +nullable
	// +optional
	Gone *Whole `json:"gone"`
}

// Whole has a part.
type Whole struct {
	Part Part `json:"part"`
}

// +kubebuilder:validation:XValidation:rule="self.weight < 5"
type SamePart Part

// AliasPart is another name for a part.
type AliasPart = Part

// Reference is another name for a type of another package.
type Reference = corev1.LocalObjectReference

type (
	// Grouped stands in a group.
	//
	// +kubebuilder:validation:MinProperties=1
	Grouped struct {
		// Inner has a type of its group.
		Inner GroupedName `json:"inner,omitempty"`
	}

	// +kubebuilder:validation:MaxLength=5
	GroupedName string
)

// Labels are texts by name.
//
// +kubebuilder:validation:MaxProperties=5
type Labels map[string]string

// +kubebuilder:validation:Type=object
// +kubebuilder:pruning:PreserveUnknownFields
// Preserved keeps what it doesn't know.
type Preserved struct {
	Known string         `json:"known"`
	Rest  map[string]any `json:"-"`
}

// MarshalJSON writes it.
func (p *Preserved) MarshalJSON() ([]byte, error) { return json.Marshal(p.Rest) }

// TextBool is written as text.
//
// +kubebuilder:validation:Type=string
type TextBool bool

// MarshalJSON writes it.
func (t TextBool) MarshalJSON() ([]byte, error) { return []byte(`"true"`), nil }

// URL wraps one.
//
// +kubebuilder:validation:Type=string
type URL struct {
	url.URL
}

// MarshalJSON writes it.
func (u *URL) MarshalJSON() ([]byte, error) { return json.Marshal(u.String()) }

// Instead writes what it holds.
type Instead struct {
	// Value is that.
	// +kubebuilder:pruning:PreserveUnknownFields
	// +kubebuilder:validation:Schemaless
	// +optional
	Value any `json:",inline"`
}

// MarshalJSON writes it.
func (i *Instead) MarshalJSON() ([]byte, error) { return json.Marshal(i.Value) }

// OverURL is one.
//
// +kubebuilder:validation:Type=string
type OverURL url.URL

// MarshalJSON writes it.
func (u *OverURL) MarshalJSON() ([]byte, error) { return nil, nil }

// Plain writes itself as its fields say.
type Plain struct {
	Value int64 `json:"value"`
}

// MarshalJSON writes it.
func (p Plain) MarshalJSON() ([]byte, error) { return nil, nil }
