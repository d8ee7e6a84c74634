package wiring

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// badSource has, for each error that wiring reports, one line.
const badSource = `
-- shop/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package shop

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec
}

type WidgetSpec struct {
	Color string
	Size  []string
}
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/test/shop
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:storageversion
// +apigen:printcolumn:name="None",type=string,method=None
// +apigen:printcolumn:name="Two",type=string,method=Two
// +kubebuilder:selectablefield:JSONPath=` + "`.spec.hue`" + `
// +kubebuilder:selectablefield:JSONPath=` + "`.spec.size`" + `
// +kubebuilder:selectablefield:JSONPath=` + "`.spec.color`" + `
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Spec   WidgetSpec   ` + "`json:\"spec\"`" + `
	Status WidgetStatus ` + "`json:\"status\"`" + `
}

type WidgetSpec struct {
	Color string   ` + "`json:\"color\"`" + `
	Hue   string   ` + "`json:\"hue\"`" + `
	Size  []string ` + "`json:\"size\"`" + `
}

type WidgetStatus struct{}

func (w *Widget) Two() (string, error) { return "", nil }

func (w *Widget) Canonicalize() {}

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:storageversion
// +kubebuilder:unservedversion
type Gone struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
-- shop/v1beta1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
// +k8s:conversion-gen=example.com/test/shop
package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
type Gone struct {
	metav1.TypeMeta
	metav1.ObjectMeta
}
`

func TestErrors(t *testing.T) {
	p := loadtest.Program(t, badSource)
	var got []string
	for _, e := range Emitter().Faults(plan.New(p)) {
		got = append(got, e.Message)
		if !strings.HasSuffix(e.Pos.Filename, "types.go") || e.Pos.Line == 0 {
			t.Errorf("%s stands at %s", e.Message, e.Pos)
		}
	}
	want := []string{
		"Widget has a status in its versions, and none in shop.Widget: add a Status field there",
		"column \"None\": Widget has no method None: write `func (in *Widget) None() string`",
		"column \"Two\": method Two must take nothing and return one value, as `func (in *Widget) Two() string` " +
			"does, or text with an age in it: " +
			"`func (in *Widget) Two() (before string, since *metav1.Time, after string)`",
		"selectable field .spec.hue: shop.WidgetSpec has no field Hue: selectors work on the hub, so the path must " +
			"exist there under the same Go names, or those of +apigen:conversion:name; for a value that the hub has " +
			"elsewhere, write +apigen:selectablefield:name=spec.hue,method=M in the marker's place, and a method " +
			"`func (in *Widget) M() string` of shop.Widget that returns it",
		"selectable field .spec.size: []string is neither a string, nor a boolean, nor an integer",
		"Gone is stored in version v1, which is not served: serve it, or put +kubebuilder:storageversion on a " +
			"version that is",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	wantWarning := "method Canonicalize of v1.Widget is not called by the server: logic works on the hub, so write " +
		"it for example.com/test/shop.Widget"
	if warnings := Warnings(plan.New(p)); len(warnings) != 1 || warnings[0].Message != wantWarning {
		t.Errorf("warnings: %v", warnings)
	}
}

// kindSource is a kind whose columns and methods each show one rule.
const kindSource = `
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import (
	"context"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:printcolumn:name="First",type=string,JSONPath=` + "`.spec.items[*].name`" + `
// +kubebuilder:printcolumn:name="Last",type=string,JSONPath=` + "`.spec.items[-1:].name`" + `
// +kubebuilder:printcolumn:name="Port",type=string,JSONPath=` + "`.spec.port`" + `
// +kubebuilder:printcolumn:name="Date",type=date,JSONPath=` + "`.spec.date`" + `
// +kubebuilder:printcolumn:name="Wrong",type=integer,JSONPath=` + "`.spec.date`" + `
// +kubebuilder:printcolumn:name="Deep",type=string,JSONPath=` + "`.spec.any.thing`" + `
// +apigen:printcolumn:name="Since",type=date,method=Since
// +apigen:createOnUpdate
// +apigen:returnDeletedObject
// +apigen:requireResourceVersion
// +kubebuilder:resource:scope=Cluster
type Widget struct {
	metav1.TypeMeta   ` + "`json:\",inline\"`" + `
	metav1.ObjectMeta ` + "`json:\"metadata\"`" + `
	Spec   WidgetSpec    ` + "`json:\"spec\"`" + `
	Status *WidgetStatus ` + "`json:\"status\"`" + `
}

type WidgetSpec struct {
	Items []Item             ` + "`json:\"items\"`" + `
	Port  intstr.IntOrString ` + "`json:\"port\"`" + `
	Date  string             ` + "`json:\"date\"`" + `
	Any   intstr.IntOrString ` + "`json:\"any\"`" + `
}

type Item struct {
	Name *string ` + "`json:\"name\"`" + `
}

type WidgetStatus struct{}

func (w *Widget) Since() *metav1.Time { return &metav1.Time{Time: time.Now()} }

func (w *Widget) Validate() error { return nil }

func (w *Widget) ValidateUpdate(ctx context.Context, old *Widget) field.ErrorList { return nil }
`

func TestKind(t *testing.T) {
	p := loadtest.Program(t, kindSource)
	files, err := Emit(plan.New(p))
	if err != nil {
		t.Fatal(err)
	}
	code := string(files[0].Content)
	for _, want := range []string{
		"Scope: api.Cluster,",
		"if len(in.Spec.Items) == 0 {\n\t\t\t\t\t\t\treturn api.Cell{}",
		"if in.Spec.Items[0].Name == nil {",
		"return api.Text(*in.Spec.Items[0].Name)",
		"return api.Text(*in.Spec.Items[len(in.Spec.Items)-1].Name)",
		"return jsonCell(in.Spec.Port)",
		"return dateCell(in.Spec.Date)",
		"result := in.Since()\n\t\t\t\t\t\tif result == nil {",
		"return api.Age(result.Time)",
		"AllowCreateOnUpdate:    true,",
		"ReturnDeletedObject:    true,",
		"RequireVersionOnUpdate: true,",
		"return obj.ValidateUpdate(ctx, old)",
		"to.Status = from.Status.DeepCopy()",
		"obj.Status = nil",
	} {
		if !strings.Contains(code, want) {
			t.Errorf("missing: %s", want)
		}
	}
	for _, none := range []string{"ToHub", "Scope(", "obj.Validate(ctx)", "Default:"} {
		if strings.Contains(code, none) {
			t.Errorf("superfluous: %s", none)
		}
	}
	if t.Failed() {
		t.Log(code)
	}
	var warnings []string
	for _, w := range Warnings(plan.New(p)) {
		warnings = append(warnings, w.Message)
	}
	want := []string{
		"method Validate of Widget is not called by the server: its signature is not " +
			"`func (in *Widget) Validate(ctx context.Context) field.ErrorList`",
		`column "Wrong" is always empty: string is no integer`,
		`column "Deep" is always empty: Go's types don't tell where .spec.any.thing leads; write a method and ` +
			`+apigen:printcolumn:name="Deep",type=string,method=`,
	}
	if diff := cmp.Diff(want, warnings); diff != "" {
		t.Errorf("warnings, -want +got:\n%s", diff)
	}
}
