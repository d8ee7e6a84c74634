package codec

import (
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

type gauge struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              struct {
		Count  uint64            `json:"count"`
		Sizes  map[string][]uint `json:"sizes,omitempty"`
		Inline *struct {
			Limit *uint64 `json:"limit,omitempty"`
		} `json:"inline,omitempty"`
	} `json:"spec"`
}

func (g *gauge) DeepCopyObject() runtime.Object {
	out := *g
	return &out
}

// TestWideNumbers checks that numbers above those of int64 are refused: everything that reads them as JSON without a Go
// type would change their last digits.
func TestWideNumbers(t *testing.T) {
	all, err := Kind[*gauge]{
		Group: "g.example.com", Kind: "Gauge", New: func() *gauge { return &gauge{} },
		Versions: []Version[*gauge]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*gauge, *gauge]{
			New: func() *gauge { return &gauge{} }})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	v := &all.Served[0]
	for spec, want := range map[string]string{
		`{"count":9223372036854775807}`: "",
		`{"count":9223372036854775808}`: "spec.count: 9223372036854775808 is above 9223372036854775807",
		`{"count":1,"sizes":{"a":[1,18446744073709551615]}}`: "spec.sizes[a][1]: 18446744073709551615 is above " +
			"9223372036854775807",
		`{"count":1,"inline":{"limit":9223372036854775809}}`: "spec.inline.limit: 9223372036854775809 is above " +
			"9223372036854775807",
	} {
		body := verb.Body{Encoding: verb.JSON, Data: []byte(`{"kind":"Gauge","apiVersion":"g.example.com/v1","spec":` +
			spec + `}`)}
		_, _, err := v.DecodeBody(&gauge{}, body)
		if want != "" {
			want = `Gauge in version "v1" cannot be handled as a Gauge: ` + want +
				", the largest whole number of the API"
		}
		if got := message(err); got != want {
			t.Errorf("%s: %s, want %s", spec, got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
