package resolve_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/model"
)

const shop = `
-- apis/shop/v1/doc.go --
// Package v1 is the API.
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v1
-- apis/shop/v1/types.go --
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +genclient
// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:printcolumn:name=Color,type=string,JSONPath=".spec.color"

// Widget is a thing.
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata,omitempty\"`" + `

	// Spec is what it should be.
	Spec   WidgetSpec   ` + "`json:\"spec\"`" + `
	Status WidgetStatus ` + "`json:\"status,omitempty\"`" + `
}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type WidgetList struct {
	metav1.TypeMeta ` + "`json:\",inline\"`" + `
	metav1.ListMeta ` + "`json:\"metadata,omitempty\"`" + `
	Items           []Widget ` + "`json:\"items\"`" + `
}

type WidgetSpec struct {
	// Color of the widget.
	// +optional
	// +default="red"
	Color string ` + "`json:\"color,omitempty\"`" + `
	// +kubebuilder:validation:Minimum=1
	Size int32 ` + "`json:\"size\"`" + `
}

type WidgetStatus struct {
	Ready bool ` + "`json:\"ready\"`" + `
}

func SetDefaults_WidgetSpec(in *WidgetSpec) {}
`

func TestLoadMakesGroups(t *testing.T) {
	p := loadtest.Program(t, shop)
	if len(p.Groups) != 1 || len(p.Groups[0].Resources) != 1 {
		t.Fatalf("got %d groups", len(p.Groups))
	}
	r := p.Groups[0].Resources[0]
	if r.Plural != "widgets" || r.ListKind != "WidgetList" || !r.Status || r.ClusterScoped {
		t.Errorf("got %+v", r)
	}
	spec := p.Packages[0].Type("WidgetSpec")
	if f := spec.Fields[0]; f.Doc != "Color of the widget." || f.JSON != "color" || !f.Schema.Optional ||
		f.Default == nil || f.Default.JSON != `"red"` {
		t.Errorf("got %+v", f)
	}
	if spec.DeepCopy != model.DeepCopyGenerate {
		t.Errorf("WidgetSpec is to be copied by %v", spec.DeepCopy)
	}
	if s := r.Versions[0].Type.Kind.Columns[0].Steps; len(s) != 2 || s[1].Field.Name != "Color" {
		t.Errorf("got steps %+v", s)
	}
}

// TestStaleGoModIsTold: the go command says what is wrong with a go.mod, if a dependency can't be listed because of it.
// A go.mod that only lacks what the go command finds by itself doesn't stop a build: the compiler is who needs it.
func TestStaleGoModIsTold(t *testing.T) {
	for _, c := range []struct{ pattern, replacement, want string }{
		{`k8s.io/apimachinery v.*`, "k8s.io/apimachinery v0.37.0", "k8s.io/apimachinery@v0.37.0: missing go.sum " +
			"entry for go.mod file; to add it: go mod download k8s.io/apimachinery"},
		{`(?m)^.*// indirect\n`, "", ""},
	} {
		dir := loadtest.Dir(t, "-- v1/doc.go --\n// +k8s:deepcopy-gen=package\npackage v1\n\nimport _ "+
			"\"k8s.io/apimachinery/pkg/runtime\"\n")
		name := filepath.Join(dir, "go.mod")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		stale := regexp.MustCompile(c.pattern).ReplaceAll(data, []byte(c.replacement))
		if err := os.WriteFile(name, stale, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err = load.Load(context.Background(), load.Options{
			Dir: dir, Patterns: []string{"./..."}, RuntimeImports: []string{"apigen.dev/runtime/api"},
			Imports: []string{"k8s.io/apimachinery/pkg/conversion"},
			Env:     loadtest.Env(),
		})
		if got := fmt.Sprint(err); got != c.want && (err != nil || c.want != "") {
			t.Errorf("got %v\nwant %s", err, c.want)
		}
	}
}
