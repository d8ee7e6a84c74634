package defaults

import (
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

const optionalStructs = `
-- api/v1/types.go --
// +groupName=shop.example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	// +optional
	Written Stand ` + "`json:\"written\"`" + `
	// +optional
	Omitted Stand ` + "`json:\"omitted,omitempty\"`" + `
	Needed  Stand ` + "`json:\"needed\"`" + `
	// +optional
	Free Wood ` + "`json:\"free\"`" + `
}

type Stand struct {
	// +required
	// +kubebuilder:validation:MinLength=1
	Legs string ` + "`json:\"legs,omitempty\"`" + `
	Wood ` + "`json:\",inline\"`" + `
}

type Wood struct {
	// +kubebuilder:default=oak
	Kind string ` + "`json:\"kind,omitempty\"`" + `
}
`

// TestOptionalStructs: the server decides whether an optional struct was sent, and gets defaults inside.
func TestOptionalStructs(t *testing.T) {
	program := loadtest.Program(t, optionalStructs)
	pkg := program.Packages[0]
	defaults := plan.New(program).OfPackage(pkg).Defaults
	want := map[string]bool{"Written": true, "Omitted": true, "Needed": true, "Free": true}
	for _, f := range defaults.Types[pkg.Type("Widget")].Fields {
		if got, ok := want[f.Field.Name]; !ok || got != f.IfSent {
			t.Errorf("%s gets defaults only if it is sent: %t", f.Field.Name, f.IfSent)
		}
		delete(want, f.Field.Name)
	}
	if len(want) > 0 {
		t.Errorf("no defaults in %v", want)
	}
}
