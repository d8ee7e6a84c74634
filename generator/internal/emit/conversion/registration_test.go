package conversion_test

import (
	"bytes"
	"testing"

	"apigen.dev/generator/internal/emit/conversion"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// TestRegistrationByHand: a package that registers its types in a function of its own has no scheme builder that
// conversions could register with, and registers them itself.
func TestRegistrationByHand(t *testing.T) {
	for function, want := range map[string]bool{"AddWidgetsToScheme": false, "Widgets": true} {
		files, err := conversion.Emitter().Emit(plan.New(loadtest.Program(t, `
-- shop/types.go --
// +groupName=shop.example.com
package shop

type Widget struct{ Size int32 }
-- shop/v1/types.go --
// +k8s:conversion-gen=example.com/test/shop
// +groupName=shop.example.com
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

func `+function+`(scheme *runtime.Scheme) error { return nil }

type Widget struct{ Size int32 }

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Status struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
}
`)))
		if err != nil || len(files) != 1 {
			t.Fatalf("%d files, %v", len(files), err)
		}
		call := []byte("localSchemeBuilder.Register(RegisterConversions)")
		if got := bytes.Contains(files[0].Content, call); got != want {
			t.Errorf("beside %s, conversions are registered with localSchemeBuilder: %v", function, got)
		}
	}
}
