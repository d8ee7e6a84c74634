package generator_test

import (
	"strings"
	"testing"
)

// partWithTypeMeta is a version with a struct that has a TypeMeta and is not a kind: a custom task inside of a
// pipeline.
const partWithTypeMeta = `
-- apis/run/v1/doc.go --
// +k8s:deepcopy-gen=package
// +k8s:defaulter-gen=TypeMeta
// +groupName=run.example.com
package v1
-- apis/run/v1/types.go --
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Run struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec Embedded ` + "`json:\"spec\"`" + `
}

// Embedded is the spec of an object that the run makes.
type Embedded struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `

	// +default=3
	Retries int32 ` + "`json:\"retries\"`" + `
}
`

// TestDefaultsOfPartsWithTypeMeta: a struct that has a TypeMeta and is not a runtime.Object gets its function of
// defaults, and the scheme, which knows objects alone, isn't told of it.
func TestDefaultsOfPartsWithTypeMeta(t *testing.T) {
	defaults := serve(t, partWithTypeMeta)["apis/run/v1/zz_generated.defaults.go"]
	for text, want := range map[string]bool{
		"func SetObjectDefaults_Embedded(in *Embedded)": true,
		"scheme.AddTypeDefaultingFunc(&Run{}":           true,
		"scheme.AddTypeDefaultingFunc(&Embedded{}":      false,
	} {
		if strings.Contains(defaults, text) != want {
			t.Errorf("%s: want %v in\n%s", text, want, defaults)
		}
	}
}

// filledByHand is a custom resource with a struct that has a default inside.
const filledByHand = `
-- apis/shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Lamp struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	Spec LampSpec ` + "`json:\"spec,omitempty\"`" + `
}

type LampSpec struct {
	Box Box ` + "`json:\"box,omitempty\"`" + `
}

type Box struct {
	Name string ` + "`json:\"name,omitempty\"`" + `
	// +kubebuilder:default=red
	Color string ` + "`json:\"color,omitempty\"`" + `
}
`

// TestStructsFilledByHand: a struct that a client leaves out gets no defaults inside, but where a hand-written function
// of what it is in may set some of its fields, nothing is taken out of it again.
func TestStructsFilledByHand(t *testing.T) {
	const paths = `DefaultsIfSent: []string{"spec", "spec.box"}`
	for function, want := range map[string]bool{
		"": true,
		"func SetDefaults_Lamp(in *Lamp) { in.Spec.Box.Name = \"x\" }":    false,
		"func SetDefaults_LampSpec(in *LampSpec) { in.Box.Name = \"x\" }": false,
		"func SetDefaults_Other(in *Other) {}\n\ntype Other struct{}":     true,
	} {
		wiring := serve(t, filledByHand+"\n"+function+"\n")["apis/shop/wiring/zz_generated.wiring.go"]
		if strings.Contains(wiring, paths) != want {
			t.Errorf("with %q: want %v, in\n%s", function, want, wiring)
		}
	}
}
