// +groupName=carry.example.com
// +k8s:conversion-gen=apigen.dev/generator/internal/emit/conversion/testdata/carry/v1

// Package v1beta1 is a spoke that lacks what came with v1.
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// SchemeBuilder collects.
var SchemeBuilder = runtime.NewSchemeBuilder()

// Rack is a kind.
// +kubebuilder:object:root=true
type Rack struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec RackSpec `json:"spec,omitempty"`
}

// RackSpec lacks price, note and lock, calls the height otherwise, and alone has watts.
type RackSpec struct {
	// +apigen:conversion:name=Height
	Units  int32            `json:"units,omitempty"`
	Slots  []Slot           `json:"slots,omitempty"`
	Loose  []*Slot          `json:"loose,omitempty"`
	Cells  map[string]Slot  `json:"cells,omitempty"`
	Far    map[string]*Slot `json:"far,omitempty"`
	Door   *Slot            `json:"door,omitempty"`
	Groups []Group          `json:"groups,omitempty"`
	// Watts went with v1.
	// +apigen:conversion:preserve
	Watts *int32 `json:"watts,omitempty"`
}

// Slot lacks labels, and alone has a side.
type Slot struct {
	Name string `json:"name"`
	// +apigen:conversion:preserve
	Side Side `json:"side,omitempty"`
}

// Side is where a slot is.
type Side struct {
	Left  bool `json:"left,omitempty"`
	Depth int  `json:"depth,omitempty"`
}

// Group holds lists in a list.
type Group struct {
	ID    int32  `json:"id"`
	Slots []Slot `json:"slots,omitempty"`
}
