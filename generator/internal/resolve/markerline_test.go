package resolve_test

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

// TestMarkersOfPackagesBelowTheClause: controller-gen's markers of a package count wherever they stand between
// declarations, but not in the doc of one, in one, or where they are a type's.
func TestMarkersOfPackagesBelowTheClause(t *testing.T) {
	res := loadtest.Load(t, loadtest.Dir(t, `
-- api/below/doc.go --
// Package below is documented.
package below

// +kubebuilder:object:generate=true
// +versionName=v1
-- api/below/types.go --
package below

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +groupName=shop.example.com
// +kubebuilder:validation:Optional

// Widget is a kind.
// +kubebuilder:object:root=true
type Widget struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
	Size int          `+"`json:\"size\"`"+`
	Names []string    `+"`json:\"names\"`"+`
}
-- api/other/types.go --
package other

// +kubebuilder:object:generate=true
var loose int

type Part struct {
	Names []string

	// +kubebuilder:object:generate=true
}

// +kubebuilder:object:generate=true

// Whole is documented.
type Whole struct {
	Names []string
}
`))
	for _, p := range res.Program.Packages {
		switch p.Name {
		case "below":
			if !p.DeepCopy || p.Group != "shop.example.com" || p.Version != "v1" {
				t.Errorf("the package has copies: %t, is of group %q, version %q", p.DeepCopy, p.Group, p.Version)
			}
			if f := p.Type("Widget").Fields[2]; !f.Schema.Optional {
				t.Errorf("+kubebuilder:validation:Optional below the clause doesn't count: %+v", f.Schema)
			}
		case "other":
			if p.DeepCopy || p.Type("Part").DeepCopy != model.DeepCopyNone ||
				p.Type("Whole").DeepCopy != model.DeepCopyGenerate {
				t.Error("what stands in a declaration, or is a type's, counts for the package")
			}
		}
	}
	if len(res.Program.Groups) != 1 || res.Program.Groups[0].Versions[0].Name != "v1" {
		t.Errorf("the groups are %+v", res.Program.Groups)
	}
	var warned []string
	for _, w := range res.Warnings {
		warned = append(warned, w.Error())
	}
	if got := strings.Join(warned, "\n"); len(warned) != 2 || !strings.Contains(got, "other/types.go:3:4") ||
		!strings.Contains(got, "other/types.go:9:5") {
		t.Errorf("the warnings are\n%s", got)
	}
}
