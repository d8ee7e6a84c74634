package roundtrip

import (
	"encoding/json"
	"math/rand"
	"net"
	"net/netip"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// unusual has fields of which some Go values are none that a client could have sent.
type unusual struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	*Inlined `json:",inline"`

	List    *[]string                  `json:"list,omitempty"`
	Map     *map[string]string         `json:"map,omitempty"`
	IP      net.IP                     `json:"ip,omitempty"`
	IPs     map[string]net.IP          `json:"ips,omitempty"`
	Address *netip.Addr                `json:"address,omitempty"`
	Raw     json.RawMessage            `json:"raw,omitempty"`
	Raws    map[string]json.RawMessage `json:"raws,omitempty"`
	Fields  metav1.FieldsV1            `json:"fields,omitzero"`
	ByInt   map[int32]string           `json:"byInt,omitempty"`
	Wide    uint64                     `json:"wide,omitempty"`
	Nothing *nothing                   `json:"nothing,omitempty"`
	None    []*nothing                 `json:"none,omitempty"`
	Void    *nothing                   `json:"void"`

	Any  *unstructured.Unstructured  `json:"any,omitempty"`
	Many []unstructured.Unstructured `json:"many,omitempty"`
}

// Inlined is embedded by a pointer, of which JSON shows nothing where all is empty.
type Inlined struct {
	Names []string `json:"names,omitempty"`
	Count int32    `json:"count,omitempty"`

	Port netip.AddrPort `json:"port,omitempty"`
	Few  few[string]    `json:"few,omitempty,omitzero"`
}

// few is a struct that isn't zero where it has an empty list.
type few[T any] struct {
	Of []T `json:"of,omitempty"`
}

// nothing is null in JSON if it is empty, as a zero metav1.Time is.
type nothing struct{ Text string }

func (n *nothing) MarshalJSON() ([]byte, error) {
	if n.Text < "k" {
		return []byte("null"), nil
	}
	return json.Marshal(n.Text)
}

func (n *nothing) UnmarshalJSON(data []byte) error {
	if string(data) == "null" {
		n.Text = ""
		return nil
	}
	return json.Unmarshal(data, &n.Text)
}

func (u *unusual) DeepCopyObject() runtime.Object { return clone(u) }

// TestUnusualTypes checks that the random values of all types that apigen serves survive.
func TestUnusualTypes(t *testing.T) {
	create := func() *unusual { return &unusual{} }
	v := Version[*unusual, *unusual]{New: create, NewHub: create}
	for i := range 4 * seeds {
		if f := v.check(seed(i)); f != nil {
			t.Fatal(f.report())
		}
	}
}

// TestUnwrittenPointers: a struct that is embedded by a pointer, and of which JSON shows nothing, is none that a client
// could have sent.
func TestUnwrittenPointers(t *testing.T) {
	v := Version[*unusual, *unusual]{}
	for _, c := range []struct {
		in   Inlined
		kept bool
	}{
		{Inlined{}, false}, {Inlined{Names: []string{}}, false}, {Inlined{Few: few[string]{[]string{}}}, false},
		{Inlined{Count: 1}, true}, {Inlined{Few: few[string]{[]string{""}}}, true},
		{Inlined{Port: netip.MustParseAddrPort("10.0.0.1:80")}, true},
	} {
		object := &unusual{Inlined: &c.in}
		v.normalize(reflect.ValueOf(object).Elem(), rand.New(rand.NewSource(1)))
		if kept := object.Inlined != nil; kept != c.kept {
			t.Errorf("%+v: %v", c.in, kept)
		}
	}
}
