package ownership

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

type (
	shelf  struct{ Row int }
	hidden struct {
		Word string `json:"word,omitempty"`
	}
)

func (s shelf) MarshalText() ([]byte, error) { return []byte{'r', byte('0' + s.Row)}, nil }

// odds has a field of each Go type that structured-merge-diff reads in another way than encoding/json, or panics at.
type odds struct {
	metav1.TypeMeta `json:",inline"`
	Word            int32 `json:"word,omitempty"`
	hidden
	Array   *[3]int32        `json:"array,omitempty"`
	Pointer **string         `json:"pointer,omitempty"`
	ByInt   map[int32]string `json:"byInt,omitempty"`
	ByShelf map[shelf]int32  `json:"byShelf,omitempty"`
	Address *netip.Addr      `json:"address,omitempty"`
	Shelf   *shelf           `json:"shelf,omitempty"`
	Text    string           `json:"text,omitempty"`
}

func (o *odds) DeepCopyObject() runtime.Object { out := *o; return &out }

// Granular is an embedded map, which encoding/json writes under the name of its type.
type Granular map[string]string

type embedder struct {
	metav1.TypeMeta `json:",inline"`
	Granular        `json:",omitempty"`
}

func (e *embedder) DeepCopyObject() runtime.Object { out := *e; return &out }

// rawText is unstructured in another way than it is JSON.
type rawText string

func (r rawText) MarshalJSON() ([]byte, error) { return json.Marshal(string(r)) }
func (r rawText) ToUnstructured() any          { return []byte(r) }

type raws struct {
	metav1.TypeMeta `json:",inline"`
	Raw             rawText `json:"raw,omitempty"`
}

func (r *raws) DeepCopyObject() runtime.Object { out := *r; return &out }

// The fields of inner are inlined three structs deep.
type (
	inner struct {
		First  string `json:"first,omitempty"`
		Second string `json:"second,omitempty"`
	}
	within struct {
		inner `json:",inline"`
	}
	around struct {
		within `json:",inline"`
	}
	nested struct {
		metav1.TypeMeta `json:",inline"`
		around          `json:",inline"`
	}
)

func (n *nested) DeepCopyObject() runtime.Object { out := *n; return &out }

// TestGoTypes checks that field ownership is tracked of the fields that encoding/json writes, whatever Go types they
// have.
func TestGoTypes(t *testing.T) {
	text, address := "a", netip.MustParseAddr("::1")
	pointer := &text
	for want, obj := range map[string]runtime.Object{
		".array":                 &odds{Array: &[3]int32{1, 2, 3}},
		".pointer":               &odds{Pointer: &pointer},
		".byInt\n.byInt.7":       &odds{ByInt: map[int32]string{7: "x"}},
		".byShelf\n.byShelf.r1":  &odds{ByShelf: map[shelf]int32{{1}: 5}},
		".address":               &odds{Address: &address},
		".shelf":                 &odds{Shelf: &shelf{2}},
		".raw":                   &raws{Raw: "720h"},
		".first":                 &nested{around: around{within{inner{First: "a"}}}},
		".word":                  &odds{Word: 1, hidden: hidden{Word: ""}},
		".Granular\n.Granular.a": &embedder{Granular: Granular{"a": "1"}},
	} {
		value, err := typedOf(t, obj)
		if err != nil {
			t.Errorf("%s: %v", want, err)
			continue
		}
		set, err := value.ToFieldSet()
		if err != nil || set.String() != want {
			t.Errorf("%v, %v, want %s", set, err, want)
		}
		written, err := json.Marshal(obj)
		if err != nil {
			t.Fatal(err)
		}
		read, err := json.Marshal(value.AsValue().Unstructured())
		if err != nil || !sameJSON(t, written, read) {
			t.Errorf("%s %v, want %s", read, err, written)
		}
	}
}

func typedOf(t *testing.T, obj runtime.Object) (value *typed.TypedValue, err error) {
	t.Helper()
	defer func() {
		if fault := recover(); fault != nil {
			t.Errorf("it panics: %v", fault)
			value, err = typed.DeducedParseableType.FromUnstructured(map[string]any{})
		}
	}()
	return new(Type{parseable: typed.DeducedParseableType}).ObjectToTyped(obj)
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if err := json.Unmarshal(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &y); err != nil {
		t.Fatal(err)
	}
	first, _ := json.Marshal(x)
	second, _ := json.Marshal(y)
	return string(first) == string(second)
}

// TestPlainTypesAreReadByReflection checks that the metadata of all objects doesn't take the slower way over JSON.
func TestPlainTypesAreReadByReflection(t *testing.T) {
	var plain Type
	if plain.isMisread(reflect.TypeFor[*metav1.PartialObjectMetadata]()) {
		t.Error("metadata takes the way over JSON")
	}
}
