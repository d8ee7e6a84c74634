package resolve_test

import (
	"testing"

	"apigen.dev/generator/internal/loadtest"
)

// TestStatusSubresource: a kind in controller-gen's style has the subresource where the marker says so, any other kind
// if there is the field.
func TestStatusSubresource(t *testing.T) {
	const root, object = "// +kubebuilder:object:root=true\n",
		"// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object\n"
	const field, marker, no = "\tStatus int32 `json:\"status\"`\n", "// +kubebuilder:subresource:status\n",
		"// +genclient\n// +genclient:noStatus\n"
	for name, test := range map[string]struct {
		marks, fields string
		want          bool
	}{
		"a definition's, not marked":           {root, field, false},
		"a definition's, marked":               {root + marker, field, true},
		"a definition's, marked, no field":     {root + marker, "", false},
		"a definition's and Go's, not marked":  {root + object, field, false},
		"a definition's, with a client":        {root + "// +genclient\n", field, false},
		"a definition's, marked, not a client": {root + marker + no, field, true},
		"Kubernetes'":                          {object, field, true},
		"Kubernetes', marked":                  {object + marker, field, true},
		"Kubernetes', without":                 {object + no, field, false},
		"Kubernetes', no field":                {object, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			p := loadtest.Program(t, `
-- api/v1/types.go --
// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

`+test.marks+"type Lamp struct {\n\tmetav1.TypeMeta `json:\",inline\"`\n"+
				"\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n"+test.fields+"}\n")
			if got := p.Groups[0].Resources[0].Status; got != test.want {
				t.Errorf("a status subresource: %t, want %t", got, test.want)
			}
		})
	}
}

// TestPackageInControllerGensStyle: a package that is marked for controller-gen has custom resources, as KEDA's
// TriggerAuthentication, which has no marker of its own.
func TestPackageInControllerGensStyle(t *testing.T) {
	for marker, want := range map[string]bool{
		"": false, "// +kubebuilder:object:generate=true\n": true, "// +kubebuilder:object:generate=false\n": false,
	} {
		p := loadtest.Program(t, `
-- api/v1/types.go --
// +groupName=example.com
`+marker+`package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Lamp struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
}
`)
		if got := p.Groups[0].Resources[0].Hub.Custom(); got != want {
			t.Errorf("with %q a custom resource: %t, want %t", marker, got, want)
		}
	}
}
