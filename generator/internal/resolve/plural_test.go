package resolve_test

import (
	"testing"

	"apigen.dev/generator/internal/loadtest"
)

// TestPlurals: a kind is called as the tool calls it that its markers are for.
func TestPlurals(t *testing.T) {
	p := loadtest.Program(t, `
-- api/v1/types.go --
// +groupName=example.com
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
type AssignMetadata struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Person struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
}

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=folk
type People struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
}
`)
	got := map[string]string{}
	for _, r := range p.Groups[0].Resources {
		got[r.Kind] = r.Plural
	}
	for kind, want := range map[string]string{"AssignMetadata": "assignmetadata", "Person": "persons",
		"People": "folk"} {
		if got[kind] != want {
			t.Errorf("%s is %q, want %q", kind, got[kind], want)
		}
	}
}
