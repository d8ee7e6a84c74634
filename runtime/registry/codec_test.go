package registry

import (
	"math"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/api"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// odd has its kind and apiVersion at the end.
type odd struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]any `json:"spec,omitempty"`
	metav1.TypeMeta   `json:",inline"`
}

func (o *odd) DeepCopyObject() runtime.Object {
	out := *o
	out.ObjectMeta = *o.ObjectMeta.DeepCopy()
	return &out
}

func oddDefinition(conversion Conversion[*odd, *odd]) *Definition[*odd] {
	return &Definition[*odd]{
		Group: "g.example.com", Names: api.Names{Kind: "Odd", Plural: "odds"}, Scope: api.Cluster, Storage: "v1",
		New:      func() *odd { return &odd{} },
		Versions: []Version[*odd]{VersionOf(api.VersionInfo{Name: "v1"}, conversion)},
	}
}

func TestKindStandsFirstWhateverTheType(t *testing.T) {
	all, err := bindVersions(oddDefinition(Conversion[*odd, *odd]{New: func() *odd { return &odd{} }}))
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"Odd","apiVersion":"g.example.com/v1","metadata":{"name":"a"}}`
	obj := &odd{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	data, err := all.encode(obj)
	if err != nil || string(data) != want || obj.Kind != "" {
		t.Errorf("%s %v %+v", data, err, obj)
	}
	if obj, err = all.decode([]byte(`{"metadata":{"name":"a"},"kind":"Odd","apiVersion":"g.example.com/v1"}`)); err != nil || obj.Name != "a" || obj.Kind != "" {
		t.Errorf("%+v %v", obj, err)
	}
	obj.Spec = map[string]any{"x": math.NaN()}
	if _, err = all.encode(obj); err == nil {
		t.Error("what is no JSON was encoded")
	}
}

func TestVersionsThatDontFit(t *testing.T) {
	broken := func(*odd, *odd) error { return nil }
	for want, conversion := range map[string]Conversion[*odd, *odd]{
		"its Conversion has no New":                     {},
		"its Conversion has only one of ToHub and From": {New: func() *odd { return nil }, ToHub: broken},
	} {
		if _, err := bindVersions(oddDefinition(conversion)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d := oddDefinition(Conversion[*odd, *odd]{New: func() *odd { return nil }})
	d.Versions[0] = VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*odd, *metav1.PartialObjectMetadata]{New: func() *metav1.PartialObjectMetadata { return nil }})
	if _, err := bindVersions(d); err == nil || !strings.Contains(err.Error(), "has no ToHub, and *v1.PartialObjectMetadata is not *registry.odd") {
		t.Error(err)
	}
}

func TestCells(t *testing.T) {
	when := time.Unix(1, 0)
	row, err := rowOf([]api.Cell{api.Text("a\"\n<"), api.Int(-3), api.Number(1.5), api.Number(math.NaN()), api.Bool(true), api.Bool(false), {}, api.Age(when), api.Age(time.Time{})}, nil)
	const want = `"cells":["a\"\n\u003c",-3,1.5,null,true,false,null,,],"object":null}`
	if err != nil || string(row.Payload) != want || len(row.Holes) != 2 || row.Holes[0].Since != when || row.Payload[row.Holes[0].At] != ',' || row.Payload[row.Holes[1].At] != ']' {
		t.Errorf("%s %v %v", row.Payload, row.Holes, err)
	}
}

func TestNameColumnIsNotDoubled(t *testing.T) {
	declared := []api.Column{{Name: "ID", Format: "name"}, {Name: "Color"}}
	obj := &odd{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	if got := columnsOf(declared); len(got) != 2 {
		t.Errorf("%+v", got)
	}
	if got := cellsOf(obj, declared, []api.Cell{api.Text("id"), api.Text("red")}); len(got) != 2 || got[0].Text != "id" {
		t.Errorf("%+v", got)
	}
}

func TestDedupOwners(t *testing.T) {
	yes, no := true, false
	ref := metav1.OwnerReference{APIVersion: "v1", Kind: "K", Name: "n", UID: "u"}
	controller, other := ref, ref
	controller.Controller, other.Controller = &yes, &no
	obj := &odd{ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{ref, controller, ref, other, controller}}}
	warnings := deduplicateOwners(obj, "")
	if len(obj.OwnerReferences) != 3 || len(warnings) != 1 || !strings.HasSuffix(warnings[0], "duplicate UID(s) observed: u, u") {
		t.Errorf("%+v %v", obj.OwnerReferences, warnings)
	}
	if warnings = deduplicateOwners(obj, ""); warnings != nil {
		t.Error(warnings)
	}
}
