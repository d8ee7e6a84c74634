package v1

import (
	"encoding/json"
	"net"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Knot has structs embedded by pointers, which are nil where an object has no member of theirs.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
type Knot struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec KnotSpec `json:"spec,omitempty"`
	// +optional
	Status KnotStatus `json:"status,omitempty"`
}

// KnotStatus is the status of a Knot.
type KnotStatus struct {
	*KnotStrand `json:",inline"`
	// +optional
	Tight bool `json:"tight"`
}

// KnotSpec is the specification of a Knot. It has a rule about itself, and required fields.
//
// +kubebuilder:validation:MinProperties=1
type KnotSpec struct {
	*KnotStrand `json:",inline"`
	*KnotSlip   `json:",inline"`
	// +optional
	Loop KnotLoop `json:"loop,omitempty"`
	// +optional
	Loops []KnotLoop `json:"loops,omitempty"`
	// +optional
	Tie KnotTie `json:"tie"`
	// +optional
	Raw json.RawMessage `json:"raw,omitempty"`
	// +optional
	Text json.RawMessage `json:"text"`
	// +optional
	Raws map[string]json.RawMessage `json:"raws,omitempty"`
	// +optional
	// +nullable
	Coils []map[string][]int32 `json:"coils,omitempty"`
	// +optional
	Turned map[string]map[string]int32 `json:"turned,omitempty"`
	// +kubebuilder:default={}
	Bag KnotBag `json:"bag"`
	// +kubebuilder:default={}
	Sack KnotBag `json:"sack,omitempty"`
	// +kubebuilder:default=0
	Dotted int32 `json:"dotted.count"`
	// +optional
	Weights []resource.Quantity `json:"weights,omitempty"`
	// +optional
	Marks [][]intstr.IntOrString `json:"marks,omitempty"`
	// +optional
	Seen []time.Time `json:"seen,omitempty"`
	// +optional
	Hold KnotHold `json:"hold,omitempty"`
	Knob KnotKnob `json:"knob,omitempty"`
	// +optional
	Start KnotBend `json:"start"`
	// +listType=map
	// +listMapKey=name
	// +optional
	Splices []KnotSplice `json:"splices,omitempty"`
	Hitch   KnotHitch    `json:"hitch,omitempty"`
	// +optional
	Seizing KnotSeizing `json:"seizing"`
	// +optional
	Store KnotStore `json:"store,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	Bight KnotBight `json:"bight,omitempty"`
	// +required
	Rope KnotRope `json:"rope,omitempty"`
}

// KnotStrand has defaults, two of which are zero.
type KnotStrand struct {
	// +kubebuilder:default="30s"
	// +optional
	Wait metav1.Duration `json:"wait,omitempty"`
	// +kubebuilder:default=0
	Slack float64 `json:"slack,omitempty"`
	// +kubebuilder:default=false
	// +required
	Loose bool `json:"loose,omitempty"`
	// +optional
	Name string `json:"name"`
}

// KnotLoop has a default below an embedded pointer.
type KnotLoop struct {
	*KnotStrand `json:",inline"`
	// +optional
	Ends uint32 `json:"ends,omitempty"`
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=2
	// +optional
	At *KnotPlace `json:"at,omitempty"`
}

// KnotPlace has members that are in JSON although they are empty, and those of a struct that it inlines.
type KnotPlace struct {
	KnotTie `json:",inline"`
	// +optional
	Address net.IP `json:"address"`
	// +optional
	Open KnotOpen `json:"open,omitempty"`
}

// KnotOpen has a name.
type KnotOpen bool

// KnotTie has required members that may be null.
type KnotTie struct {
	// +nullable
	// +required
	Pull *int32 `json:"pull,omitempty"`
	// +nullable
	// +required
	Push float32 `json:"push,omitempty"`
}

// KnotBag has a list that is in JSON although nobody sent it, and a default.
type KnotBag struct {
	// +optional
	Sizes []float32 `json:"sizes"`
	// +kubebuilder:default=false
	Full bool `json:"full,omitempty"`
}

// KnotRope is what it is made of.
type KnotRope struct {
	// +optional
	Length uint64 `json:"length,omitempty"`
}

// KnotHold may not be empty, and has a struct with a rule in Kubernetes' grammar.
//
// +kubebuilder:validation:MinProperties=1
type KnotHold struct {
	Seal KnotSeal `json:"seal,omitempty"`
	Firm bool     `json:"firm,omitempty"`
}

// KnotSeal is on a hold.
type KnotSeal struct {
	// +k8s:maxLength=2
	Text string `json:"text,omitempty"`
}

// KnotKnob inlines a required field that can't be zero.
type KnotKnob struct {
	KnotBase `json:",inline"`
}

// KnotBase is below a knob.
type KnotBase struct {
	// +required
	Grade KnotGrade `json:"grade,omitzero"`
}

// KnotGrade is how hard it is.
//
// +kubebuilder:validation:Minimum=1
type KnotGrade int32

// KnotSlip has defaults that are zero alone, so that a pointer to it stays nil.
type KnotSlip struct {
	// +kubebuilder:default=0
	Slips int32 `json:"slips,omitempty"`
	Eased bool  `json:"eased,omitempty"`
	// +optional
	Reason string `json:"reason"`
}

// KnotSplice has the rules of the structs that it inlines.
type KnotSplice struct {
	*KnotEnd  `json:",inline"`
	KnotStart `json:",inline"`
	// +required
	Name string `json:"name"`
	// +nullable
	// +optional
	Tucked bool `json:"tucked"`
	// +nullable
	// +optional
	Tie KnotTie `json:"tie"`
}

// KnotEnd is whipped or melted, and keeps how it is glued.
//
// +kubebuilder:validation:ExactlyOneOf=whipped;melted
// +kubebuilder:validation:XValidation:rule="!has(oldSelf.glued) || self.glued == oldSelf.glued",message="glue stays"
type KnotEnd struct {
	Whipped int32  `json:"whipped,omitempty"`
	Melted  string `json:"melted,omitempty"`
	// +optional
	Glued bool `json:"glued,omitempty"`
}

// KnotStart may be taped or clamped.
//
// +kubebuilder:validation:AtMostOneOf=taped;clamped
type KnotStart struct {
	Taped   bool   `json:"taped,omitempty"`
	Clamped string `json:"clamped,omitempty"`
}

// KnotBend is written by Go although nobody sent it, and has a left or a right end.
//
// +kubebuilder:validation:AtLeastOneOf=left;right
type KnotBend struct {
	Left  int32 `json:"left,omitempty"`
	Right bool  `json:"right,omitempty"`
}

// KnotHitch has a required member below an embedded pointer, which must not be zero.
type KnotHitch struct {
	*KnotTurn `json:",inline"`
}

// KnotTurn has a rule that its zero value breaks.
type KnotTurn struct {
	// +kubebuilder:validation:Minimum=1
	// +required
	Turns int32 `json:"turns"`
}

// KnotSeizing must have a member, which may be null.
//
// +kubebuilder:validation:AtLeastOneOf=round;flat
type KnotSeizing struct {
	// +kubebuilder:validation:Minimum=1
	// +nullable
	Round uint32 `json:"round,omitempty,omitzero"`
	// +optional
	Flat []string `json:"flat,omitempty"`
}

// KnotStore has a required map, in which null is nothing.
type KnotStore struct {
	// +required
	Stock KnotStock `json:"stock,omitempty"`
	Name  string    `json:"name,omitempty"`
}

// KnotStock is what there is of each thing.
type KnotStock map[KnotThing]resource.Quantity

// KnotThing is a thing.
type KnotThing string

// KnotBight has a member by default.
type KnotBight struct {
	// +kubebuilder:default=0
	Depth int16 `json:"depth,omitempty"`
}
