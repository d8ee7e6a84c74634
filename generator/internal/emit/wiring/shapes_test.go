package wiring

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/plan"
)

// shapesSource is a kind whose scale selects by a map of labels, and whose older version has a column that only the
// hub's method can show.
const shapesSource = `
-- shop/v1/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:subresource:scale:specpath=.spec.replicas,selectorpath=.spec.selector
// +apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
// +apigen:printcolumn:name=Own,type=string,method=OwnColumn
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec ` + "`json:\"spec\"`" + `
}

func (in *Widget) OwnColumn() string { return "" }

type WidgetSpec struct {
	Replicas int32 ` + "`json:\"replicas\"`" + `
	Selector LABELS ` + "`json:\"selector\"`" + `
}
-- shop/v2/types.go --
// +groupName=shop.example.com
// +k8s:deepcopy-gen=package
package v2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +k8s:deepcopy-gen:interfaces=k8s.io/apimachinery/pkg/runtime.Object
// +kubebuilder:storageversion
// +kubebuilder:subresource:scale:specpath=.spec.replicas,selectorpath=.spec.selector
// +apigen:printcolumn:name=Ready,type=string,method=ReadyColumn
type Widget struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	Spec WidgetSpec ` + "`json:\"spec\"`" + `
}

func (in *Widget) ReadyColumn() string { return "" }

func (in *Widget) OwnColumn() string { return "" }

type WidgetSpec struct {
	Replicas int32 ` + "`json:\"replicas\"`" + `
	Selector LABELS ` + "`json:\"selector\"`" + `
}
`

func emitted(t *testing.T, source string) string {
	t.Helper()
	files, err := Emit(plan.New(loadtest.Program(t, source)))
	if err != nil {
		t.Fatal(err)
	}
	code := ""
	for _, f := range files {
		code += string(f.Content)
	}
	return strings.Join(strings.Fields(code), " ")
}

func TestScaleSelectsByLabels(t *testing.T) {
	code := emitted(t, strings.ReplaceAll(shapesSource, "LABELS", "map[string]string"))
	if want := "return labels.SelectorFromSet(obj.Spec.Selector).String()"; !strings.Contains(code, want) {
		t.Errorf("no %q in\n%s", want, code)
	}
	labels := strings.Replace(shapesSource, "type WidgetSpec", "type Labels map[string]string\n\ntype WidgetSpec", 2)
	code = emitted(t, strings.ReplaceAll(labels, "LABELS", "Labels"))
	if want := "labels.SelectorFromSet(labels.Set(obj.Spec.Selector)).String()"; !strings.Contains(code, want) {
		t.Errorf("no %q in\n%s", want, code)
	}
}

func TestColumnOfTheHubServesAllVersions(t *testing.T) {
	code := emitted(t, strings.ReplaceAll(shapesSource, "LABELS", "map[string]string"))
	for _, want := range []string{
		"func(in *v1.Widget) api.Cell { hub := new(v2.Widget) " +
			"if v1.Convert_v1_Widget_To_v2_Widget(in, hub, nil) != nil { return api.Cell{} } " +
			"return api.Text(hub.ReadyColumn()) },",
		"func(in *v1.Widget) api.Cell { return api.Text(in.OwnColumn()) },",
		"func(in *v2.Widget) api.Cell { return api.Text(in.ReadyColumn()) },",
	} {
		if !strings.Contains(code, want) {
			t.Errorf("no %q in\n%s", want, code)
		}
	}
}

// TestSelectableFieldsWithNames: a selectable field has the name that its marker gives it, and a method of the hub can
// make its value.
func TestSelectableFieldsWithNames(t *testing.T) {
	source := strings.ReplaceAll(shapesSource, "LABELS", "map[string]string")
	mark := "// +apigen:selectablefield:name=replicas,JSONPath=.spec.replicas\n" +
		"// +apigen:selectablefield:name=source,method=ReadyColumn\ntype Widget struct {"
	code := emitted(t, strings.ReplaceAll(source, "type Widget struct {", mark))
	for _, want := range []string{
		`Path: "replicas", Value: func(obj *v2.Widget) string { ` +
			`return strconv.FormatInt(int64(obj.Spec.Replicas), 10) }`,
		`Path: "source", Value: func(obj *v2.Widget) string { return obj.ReadyColumn() }`,
	} {
		if !strings.Contains(code, want) {
			t.Errorf("no %q in\n%s", want, code)
		}
	}
}
