package generator_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/report"
)

// twoGroups has one kind in two groups, whose packages are both called v1. A conversion is written by hand in one
// direction, and the second group has a rule of its own.
const twoGroups = `
-- apis/shop/v1/types.go --
// +k8s:deepcopy-gen=package
// +groupName=shop.example.com
package v1

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=.spec.color
// +apigen:createOnUpdate
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec   WidgetSpec   ` + "`json:\"spec\"`" + `
	Status WidgetStatus ` + "`json:\"status\"`" + `
}

type WidgetSpec struct {
	Color string ` + "`json:\"color\"`" + `
	Size  int32  ` + "`json:\"size\"`" + `
}

type WidgetStatus struct {
	Phase string ` + "`json:\"phase\"`" + `
}

func (in *Widget) PrepareForCreate(ctx context.Context) {}
-- apis/stock/v1/types.go --
// +k8s:deepcopy-gen=package
// +groupName=stock.example.com
package v1

import (
	"context"

	"k8s.io/apimachinery/pkg/conversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	shopv1 "example.com/test/apis/shop/v1"
)

// +kubebuilder:object:root=true
// +kubebuilder:resource:path=articles
// +kubebuilder:subresource:status
// +kubebuilder:selectablefield:JSONPath=.spec.colour
// +kubebuilder:selectablefield:JSONPath=.status.phase
// +apigen:sameAs=example.com/test/apis/shop/v1.Widget
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `

	Spec   WidgetSpec   ` + "`json:\"spec\"`" + `
	Status WidgetStatus ` + "`json:\"status\"`" + `
}

type WidgetSpec struct {
	// +apigen:conversion:name=Color
	Colour string ` + "`json:\"colour\"`" + `
	Length int32  ` + "`json:\"length\"`" + `
}

type WidgetStatus struct {
	Phase string ` + "`json:\"phase\"`" + `
}

func Convert_stock_v1_WidgetSpec_To_shop_v1_WidgetSpec(in *WidgetSpec, out *shopv1.WidgetSpec,
	s conversion.Scope) error {
	out.Size = in.Length
	return autoConvert_stock_v1_WidgetSpec_To_shop_v1_WidgetSpec(in, out, s)
}

func Convert_shop_v1_WidgetSpec_To_stock_v1_WidgetSpec(in *shopv1.WidgetSpec, out *WidgetSpec,
	s conversion.Scope) error {
	out.Length = in.Size
	return autoConvert_shop_v1_WidgetSpec_To_stock_v1_WidgetSpec(in, out, s)
}

func ValidateObject_Widget(_ context.Context, widget *shopv1.Widget) field.ErrorList { return nil }
-- apis/apis.go --
// +apigen:groups
// +apigen:crds=../crds
package apis
`

// TestTwoGroups tests that a kind with the objects of another group's kind is converted to that one's hub, called by
// its own logic and that of the hub, and served from its store.
func TestTwoGroups(t *testing.T) {
	files := serve(t, twoGroups)
	holds(t, files, "apis/stock/wiring/zz_generated.wiring.go",
		`registry.NewSameAs(defineWidget(scope), `+
			`registry.StoredResource{Group: "shop.example.com", Kind: "Widget", Plural: "widgets"})`,
		`Group: "stock.example.com"`, `Plural: "articles"`, `Storage: "v1", StoragePrefix: "shop.example.com/widgets"`,
		"Convert_stock_v1_Widget_To_shop_v1_Widget(in, out, scope)",
		"PrepareForCreate: func(ctx context.Context, obj *shopv1.Widget) {", "Validate: v1.ValidateObject_Widget,",
		"AllowCreateOnUpdate: true", `Name: "status"`,
		`{Path: "spec.colour", Of: "spec.color"}, { Path: "status.phase", Value: func(obj *shopv1.Widget) string {`)
	holds(t, files, "apis/stock/v1/zz_generated.conversion.go",
		"func autoConvert_stock_v1_WidgetSpec_To_shop_v1_WidgetSpec(in *WidgetSpec, out *shopv1.WidgetSpec",
		"out.Color = in.Colour",
		"Convert_stock_v1_WidgetSpec_To_shop_v1_WidgetSpec(&in.Spec, &out.Spec, s)")
	holds(t, files, "apis/shop/wiring/zz_generated.wiring.go", "registry.New(defineWidget())")
	if files["crds/shop.example.com_widgets.yaml"] == "" || files["crds/stock.example.com_articles.yaml"] != "" {
		t.Error("a cluster would store the objects twice, or not at all")
	}
	if strings.Contains(files["apis/shop/wiring/zz_generated.wiring.go"], "ValidateObject") {
		t.Error("the logic of one group is called in the other")
	}
}

// TestTwoGroupsInParts tests that builds of single packages give the files of one build of everything.
func TestTwoGroupsInParts(t *testing.T) {
	whole := serve(t, twoGroups)
	dir := loadtest.Dir(t, twoGroups)
	parts := map[string]string{}
	for _, pattern := range []string{"./apis/shop/v1", "./apis/stock/v1", "./apis", "./apis/shop/v1"} {
		res, err := generator.Build(context.Background(), generator.Options{
			Listings: loadtest.Listings, Dir: dir, Patterns: []string{pattern}, Env: environment(),
		})
		if err != nil {
			t.Fatalf("apigen build %s: %s", pattern, report.Describe(err, dir))
		}
		for _, c := range res.Changes {
			name, err := filepath.Rel(dir, c.Path)
			if err != nil {
				t.Fatal(err)
			}
			if parts[filepath.ToSlash(name)] != "" {
				t.Errorf("apigen build %s changes %s", pattern, name)
			}
			parts[filepath.ToSlash(name)] = string(c.New)
		}
	}
	for name := range maps.Keys(whole) {
		data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		if d := cmp.Diff(string(data), parts[name]); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}
