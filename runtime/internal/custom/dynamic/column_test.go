package dynamic

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/api"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// TestManyColumns: the columns of a version share what a row may cost. As many as real definitions have need not care,
// and a plain path leads to its value however many there are.
func TestManyColumns(t *testing.T) {
	wide := map[string]any{"plain": "here"}
	for i := range 1000 {
		wide[fmt.Sprint("f", i)] = map[string]any{"x": "y"}
	}
	for columns, want := range map[int]api.Cell{20: api.Text("y"), 30_000: {}} {
		spec := &apiextensionsv1.CustomResourceDefinitionVersion{Name: "v1"}
		for range columns {
			spec.AdditionalPrinterColumns = append(spec.AdditionalPrinterColumns,
				apiextensionsv1.CustomResourceColumnDefinition{Name: "a", Type: "string", JSONPath: "..x"})
		}
		spec.AdditionalPrinterColumns[columns-1].JSONPath = ".spec.plain"
		v, err := newKindVersion(&apiextensionsv1.CustomResourceDefinition{}, spec, schema.GroupVersion{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		object := map[string]any{"spec": wide}
		if got := v.columns[0].cell(object); got != want {
			t.Errorf("%d columns: a path of all depths leads to %v, want %v", columns, got, want)
		}
		if got := v.columns[columns-1].cell(object); got != api.Text("here") {
			t.Errorf("%d columns: a plain path leads to %v", columns, got)
		}
	}
}
