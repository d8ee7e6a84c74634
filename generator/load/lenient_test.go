package load_test

import (
	"strings"
	"testing"

	"apigen.dev/generator/load"
	"apigen.dev/generator/loadtest"
)

// TestLenient: what is wrong with how kinds are shown and listed keeps nobody from a first build, and is left undone.
func TestLenient(t *testing.T) {
	dir := loadtest.Dir(t, `
-- api/v1/types.go --
// +groupName=shop.example.com
// +kubebuilder:object:generate=true
package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:printcolumn:name=Node,type=string,JSONPath=.node
// +kubebuilder:selectablefield:JSONPath=.size
// +kubebuilder:selectablefield:JSONPath=.color
// +kubebuilder:subresource:scale:specpath=.color,statuspath=.size
type Widget struct {
	metav1.TypeMeta   `+"`json:\",inline\"`"+`
	metav1.ObjectMeta `+"`json:\"metadata,omitempty\"`"+`
	Color string      `+"`json:\"color\"`"+`
}

type Shape struct{}

// +kubebuilder:object:root=true
type WidgetList struct {
	metav1.TypeMeta `+"`json:\",inline\"`"+`
	metav1.ListMeta `+"`json:\"metadata,omitempty\"`"+`
	Items []Shape   `+"`json:\"items\"`"+`
}
`)
	faults := []string{
		`types.go:8:4: JSONPath .node of kind Widget: Widget has no field "node"`,
		`types.go:9:4: JSONPath .size of kind Widget`,
		`types.go:11:4: path .color of marker`,
		`types.go:11:4: JSONPath .size of kind Widget`,
		`types.go:21:6: WidgetList is the list of kind Widget by its name`,
	}
	_, err := load.Load(t.Context(), load.Options{Dir: dir})
	if err == nil {
		t.Fatal("no error")
	}
	res, lenient := load.Load(t.Context(), load.Options{Dir: dir, Lenient: true})
	if lenient != nil {
		t.Fatal(lenient)
	}
	for _, want := range faults {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("no error %q in\n%v", want, err)
		}
		if !strings.Contains(res.Warnings.Error(), want) {
			t.Errorf("no warning %q in\n%v", want, res.Warnings)
		}
	}
	k := res.Program.Packages[0].Type("Widget").Kind
	if k.Scale != nil || len(k.Selectable) != 1 || len(k.Columns) != 1 || k.Columns[0].Steps != nil || k.ListType != nil {
		t.Errorf("the kind is %+v", k)
	}
}
