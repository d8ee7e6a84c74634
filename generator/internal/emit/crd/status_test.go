package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// TestStatusRemark: a definition has the subresource status by its marker alone, and the server of a kind in
// Kubernetes' style by its field.
func TestStatusRemark(t *testing.T) {
	const source = "-- apis/doc.go --\n// +apigen:crds=../crd\npackage apis\n-- apis/v1/types.go --\n" +
		"// +groupName=shop.example.com\npackage v1\n\n" +
		"import metav1 \"k8s.io/apimachinery/pkg/apis/meta/v1\"\n\n%s\ntype Widget struct {\n" +
		"\tmetav1.TypeMeta `json:\",inline\"`\n\tmetav1.ObjectMeta `json:\"metadata,omitempty\"`\n" +
		"\tStatus int32 `json:\"status\"`\n}\n"
	for marks, want := range map[string]string{
		"// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object": "the server has a status " +
			"subresource of Widget, for there is a field Status; the CustomResourceDefinition has none in v1 without " +
			"+kubebuilder:subresource:status",
		"// +kubebuilder:object:root=true":                                     "",
		"// +kubebuilder:object:root=true\n// +kubebuilder:subresource:status": "",
	} {
		var got []string
		for _, r := range crd.Remarks(plan.New(loadtest.Program(t, fmt.Sprintf(source, marks)))) {
			got = append(got, r.Message)
		}
		if got := strings.Join(got, "\n"); got != want {
			t.Errorf("%s: remarks are %q, want %q", marks, got, want)
		}
	}
}
