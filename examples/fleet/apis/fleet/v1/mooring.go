package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Mooring is a berth that a ship has taken for now. The harbour keeps it in memory and nothing stores it: it is gone
// with the process. Clients do with it what they do with any kind.
//
// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name="Ship",type=string,JSONPath=`.spec.ship`
// +kubebuilder:printcolumn:name="Lines",type=integer,JSONPath=`.spec.lines`
// +kubebuilder:selectablefield:JSONPath=`.spec.ship`
// +apigen:storage=none
// +genclient:onlyVerbs=create,get,list,watch,update,patch,delete,deleteCollection
type Mooring struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec MooringSpec `json:"spec"`
}

// MooringSpec is what is moored, and how.
type MooringSpec struct {
	// Ship is the name of the ship.
	// +kubebuilder:validation:MinLength=1
	Ship string `json:"ship"`
	// Lines is how many lines hold it.
	// +optional
	// +default=2
	// +kubebuilder:validation:Minimum=1
	Lines int32 `json:"lines,omitempty"`
}

// MooringList is a list of moorings.
//
// +kubebuilder:object:root=true
type MooringList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Mooring `json:"items"`
}

// Validate checks the metadata before each write. The runtime checks the metadata of stored kinds only.
func (m *Mooring) Validate(context.Context) field.ErrorList {
	return validation.ValidateObjectMeta(&m.ObjectMeta, true, validation.NameIsDNSSubdomain, field.NewPath("metadata"))
}

// ValidateUpdate rejects updates that give the berth to another ship.
func (m *Mooring) ValidateUpdate(_ context.Context, old *Mooring) field.ErrorList {
	if m.Spec.Ship != old.Spec.Ship {
		return field.ErrorList{field.Forbidden(field.NewPath("spec", "ship"), "cast off, and moor the other ship")}
	}
	return nil
}
