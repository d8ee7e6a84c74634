package resolve_test

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/loadtest"
	"apigen.dev/generator/internal/program"
)

// TestLenient: what is wrong with how kinds are shown and listed keeps nobody from a first build, and is left undone.
func TestLenient(t *testing.T) {
	dir := loadtest.Dir(t, `
-- api/v1/types.go --
// +groupName=shop.example.com
// +kubebuilder:object:generate=true
// +k8s:conversion-gen=example.com/test/gone
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
		`types.go:3:4: package example.com/test/gone of marker "+k8s:conversion-gen" can't be loaded: `,
		`types.go:9:4: JSONPath .node of kind Widget: Widget has no field "node"`,
		`types.go:10:4: JSONPath .size of kind Widget`,
		`types.go:12:4: path .color of marker`,
		`types.go:12:4: JSONPath .size of kind Widget`,
		`types.go:22:6: WidgetList is the list of kind Widget by its name`,
	}
	_, err := program.Read(t.Context(), program.Options{Options: load.Options{Dir: dir}})
	if err == nil {
		t.Fatal("no error")
	}
	res, lenient := program.Read(t.Context(), program.Options{Options: load.Options{Dir: dir, Lenient: true}})
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
	if peers := res.Program.Packages[0].ConversionPeers; len(peers) != 0 {
		t.Errorf("the package is converted to %s, which isn't there", peers)
	}
	k := res.Program.Packages[0].Type("Widget").Kind
	if k.Scale != nil || len(k.Selectable) != 1 || len(k.Columns) != 1 || k.Columns[0].Steps != nil ||
		k.ListType != nil {
		t.Errorf("the kind is %+v", k)
	}
}
