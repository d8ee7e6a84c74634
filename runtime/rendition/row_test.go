package rendition

import (
	"math"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCells(t *testing.T) {
	when := time.Unix(1, 0)
	row, err := Row([]api.Cell{api.Text("a\"\n<"), api.Int(-3), api.Number(1.5), api.Number(math.NaN()), api.Bool(true),
		api.Bool(false), {}, api.Age(when), api.Age(time.Time{})}, nil)
	const want = `"cells":["a\"\n\u003c",-3,1.5,null,true,false,null,,],"object":null}`
	if err != nil || string(row.Payload) != want || len(row.Holes) != 2 || row.Holes[0].Since != when ||
		row.Payload[row.Holes[0].At] != ',' || row.Payload[row.Holes[1].At] != ']' {
		t.Errorf("%s %v %v", row.Payload, row.Holes, err)
	}
}

func TestNameColumnIsNotDoubled(t *testing.T) {
	declared := []api.Column{{Name: "ID", Format: "name"}, {Name: "Color"}}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if got := Columns(declared); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if got := Cells(obj, declared, []api.Cell{api.Text("id"), api.Text("red")}); len(got) != 2 || got[0].Text != "id" {
		t.Errorf("%+v", got)
	}
}
