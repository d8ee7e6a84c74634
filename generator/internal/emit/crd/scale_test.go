package crd_test

import (
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"apigen.dev/generator/internal/emit/crd"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// TestScaleSelector: a cluster reads the selector of a scale as a string, and refuses every object with another value
// there. A definition has the path of a string only; that it lacks another one is a remark.
func TestScaleSelector(t *testing.T) {
	const marker = "// +kubebuilder:subresource:scale:specpath=.spec.n,statuspath=.spec.n,selectorpath=.spec.%s\n"
	const spec = "type Spec struct {\n\tN int32 `json:\"n\"`\n\tText Text `json:\"text\"`\n" +
		"\tSelector *metav1.LabelSelector `json:\"selector,omitempty\"`\n" +
		"\tLabels map[string]string `json:\"labels\"`\n" +
		"\tPart `json:\",inline\"`\n}\n// Part is inlined.\ntype Part struct {\n\tInner string `json:\"inner\"`\n}\n" +
		"// Text is one.\ntype Text string"
	for name, isText := range map[string]bool{
		"text": true, "inner": true, "labels.text": true, "selector": false, "labels": false,
	} {
		t.Run(name, func(t *testing.T) {
			p := plan.New(loadtest.Program(t, "-- apis/doc.go --\n// +apigen:crds=../crd\npackage apis\n"+
				version("v1", "// +groupName=shop.example.com\n", fmt.Sprintf(marker, name), spec)))
			files, err := crd.Emitter().Emit(p)
			if err != nil {
				t.Fatal(err)
			}
			var document struct {
				Spec struct {
					Versions []struct {
						Subresources struct {
							Scale struct{ SpecReplicasPath, LabelSelectorPath string }
						}
					}
				}
			}
			if err := yaml.Unmarshal(files[0].Content, &document); err != nil {
				t.Fatal(err)
			}
			scale, want := document.Spec.Versions[0].Subresources.Scale, ""
			if isText {
				want = ".spec." + name
			}
			if scale.SpecReplicasPath != ".spec.n" || scale.LabelSelectorPath != want {
				t.Errorf("the scale is %+v, want the selector %q", scale, want)
			}
			var remarks []string
			for _, r := range crd.Remarks(p) {
				if strings.Contains(r.Message, "selectorpath") {
					remarks = append(remarks, fmt.Sprintf("%d:%d: %s", r.Pos.Line, r.Pos.Column, r.Message))
				}
			}
			want = ""
			if !isText {
				want = "7:4: a CustomResourceDefinition can't express selectorpath=.spec." + name +
					" of Widget, which leads to an object: a cluster reads a string there, so it is left out"
			}
			if got := strings.Join(remarks, "\n"); got != want {
				t.Errorf("remarks are %q, want %q", got, want)
			}
		})
	}
}
