package resolve_test

import (
	"testing"

	"apigen.dev/generator/internal/loadtest"
)

// TestPathsOfInternalTypes: columns on internal types are copies of a version's, whose JSON they are about.
func TestPathsOfInternalTypes(t *testing.T) {
	const types = `
import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:printcolumn:name="Color",type=string,JSONPath=.spec.color
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=.metadata.creationTimestamp
`
	loadtest.Program(t, "-- apis/shop/types.go --\n// +groupName=shop.example.com\npackage shop\n"+types+
		`type Lamp struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec LampSpec
}

type LampSpec struct{ Color string }
-- apis/shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:conversion-gen=example.com/test/apis/shop
package v1
`+types+"type Lamp struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata\"`\n"+
		"\tSpec LampSpec `json:\"spec\"`\n}\n\n"+
		"type LampSpec struct {\n\tColor string `json:\"color\"`\n}\n")
}
