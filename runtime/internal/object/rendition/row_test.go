package rendition

import (
	"bytes"
	"math"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/wire"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestCells(t *testing.T) {
	when := time.Unix(1, 0)
	row, err := Row([]api.Cell{api.Text("a\"\n<"), api.Int(-3), api.Number(1.5), api.Number(math.NaN()), api.Bool(true),
		api.Bool(false), {}, api.Age(when), api.Age(time.Time{}), api.AgeWithin("\"3 (", when, "\tago)")}, nil)
	const want = `"cells":["a\"\n\u003c",-3,1.5,null,true,false,null,"","","\"3 (\tago)"],"object":null}`
	if err != nil || string(row.Payload) != want || len(row.Holes) != 3 {
		t.Fatalf("%s %v %v", row.Payload, row.Holes, err)
	}
	for i, hole := range []verb.Hole{{Since: when}, {}, {Since: when}} {
		after := []string{`","","`, `","\"3`, `\tago)"]`}[i]
		if got := row.Holes[i]; got.Since != hole.Since || !strings.HasPrefix(string(row.Payload[got.At:]), after) {
			t.Errorf("hole %d: %v before %s", i, got, row.Payload[got.At:])
		}
	}
}

// A row in CBOR is a whole item without its ages, whatever stands around them.
func TestCBORCells(t *testing.T) {
	when, long := time.Unix(1, 0), strings.Repeat("x", 300)
	row, err := RowCBOR([]api.Cell{api.Age(when), api.AgeWithin(long, when, " ago"), api.Text("b")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := wire.AppendString(wire.AppendArray(nil, 3), "")
	want = wire.AppendString(wire.AppendString(want, long+" ago"), "b")
	start, end, err := wire.Find(row.Payload, "cells")
	if err != nil || !bytes.Equal(row.Payload[start:end], want) {
		t.Errorf("%x: %v", row.Payload, err)
	}
	if at := row.Holes[1].At; len(row.Holes) != 2 || string(row.Payload[at:at+4]) != " ago" ||
		row.Holes[1].Within != uint32(len(long)+3) {
		t.Errorf("%v", row.Holes)
	}
}

func TestNameColumnIsNotDoubled(t *testing.T) {
	declared := []api.Column{{Name: "Color"}, {Name: "ID", Format: "name"}}
	obj := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if got := Columns(declared); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if got := Cells(obj, declared, []api.Cell{api.Text("red"), api.Text("id")}); len(got) != 2 || got[1].Text != "id" {
		t.Errorf("%+v", got)
	}
}
