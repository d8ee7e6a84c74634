package codec

import (
	"fmt"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// path has lamps, which are lit unless a client says otherwise.
type path struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Lamps             []lamp `json:"lamps,omitempty"`
}

type lamp struct {
	Name string `json:"name"`
	Lit  *bool  `json:"lit,omitempty"`
}

func (p *path) DeepCopyObject() runtime.Object {
	out := *p
	return &out
}

// TestNullInAListStands: null in a list is refused although its element has defaults by the time that rules are
// checked, and although the object had null there before. A required member that was set meanwhile isn't missed.
func TestNullInAListStands(t *testing.T) {
	all, err := Kind[*path]{
		Group: "g.example.com", Kind: "Path", New: func() *path { return &path{} },
		Versions: []Version[*path]{VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*path, *path]{
			New: func() *path { return &path{} },
			Sent: func() *Sent {
				lamp := &Sent{Required: []string{"name"}}
				return &Sent{Members: map[string]*Sent{"lamps": {Elem: lamp, Items: "object"}}}
			},
		})},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	v, lit := &all.Served[0], true
	now := &path{Lamps: []lamp{{Name: "set by admission", Lit: &lit}, {Lit: &lit}}}
	const want = `[lamps[1]: Invalid value: null: lamps[1] in body must be of type object: "null"]`
	for _, old := range []**path{nil, &now} {
		faults := v.SentFaults(verb.Body{Data: []byte(`{"lamps":[{"lit":true},null]}`)})
		if len(faults) != 2 {
			t.Fatalf("the body has faults %v", faults)
		}
		if got := fmt.Sprint(v.Standing(faults, now, old)); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
