package codec

import (
	"math"
	"strings"
	"testing"

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

func oddKind(conversion Conversion[*odd, *odd]) Kind[*odd] {
	return Kind[*odd]{
		Group: "g.example.com", Kind: "Odd",
		New:      func() *odd { return &odd{} },
		Versions: []Version[*odd]{VersionOf(api.VersionInfo{Name: "v1"}, conversion)},
	}
}

func TestKindStandsFirstWhateverTheType(t *testing.T) {
	all, err := oddKind(Conversion[*odd, *odd]{New: func() *odd { return &odd{} }}).Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"kind":"Odd","apiVersion":"g.example.com/v1","metadata":{"name":"a"}}`
	obj := &odd{ObjectMeta: metav1.ObjectMeta{Name: "a"}}
	data, err := all.Encode(obj)
	if err != nil || string(data) != want || obj.Kind != "" {
		t.Errorf("%s %v %+v", data, err, obj)
	}
	obj, err = all.Decode([]byte(`{"metadata":{"name":"a"},"kind":"Odd","apiVersion":"g.example.com/v1"}`))
	if err != nil || obj.Name != "a" || obj.Kind != "" {
		t.Errorf("%+v %v", obj, err)
	}
	obj.Spec = map[string]any{"x": math.NaN()}
	if _, err = all.Encode(obj); err == nil {
		t.Error("what is no JSON was encoded")
	}
}

func TestVersionsThatDontFit(t *testing.T) {
	broken := func(*odd, *odd) error { return nil }
	for want, conversion := range map[string]Conversion[*odd, *odd]{
		"its Conversion has no New":                     {},
		"its Conversion has only one of ToHub and From": {New: func() *odd { return nil }, ToHub: broken},
	} {
		if _, err := oddKind(conversion).Bind("v1"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	d := oddKind(Conversion[*odd, *odd]{New: func() *odd { return nil }})
	d.Versions[0] = VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*odd,
		*metav1.PartialObjectMetadata]{New: func() *metav1.PartialObjectMetadata { return nil }})
	if _, err := d.Bind("v1"); err == nil || !strings.Contains(err.Error(),
		"has no ToHub, and *v1.PartialObjectMetadata is not *codec.odd") {
		t.Error(err)
	}
}
