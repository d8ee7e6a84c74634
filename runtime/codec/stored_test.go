package codec

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestHasMember(t *testing.T) {
	for data, want := range map[string]bool{
		`{"a":null}`:                        true,
		`{"a":{"b":1,"c":null},"d":2}`:      true,
		`{"a":"null","b":[null]}`:           false,
		`{"a":"{\"b\":null}"}`:              false,
		`{"a":"{\"b\":null}","c":null}`:     true,
		`{"a":"{\"b\":\"{\\\"c\\\":null}"}`: false,
		`{"a\\":null}`:                      true,
		`{"a":""}`:                          false,
		``:                                  false,
	} {
		if got := hasMember([]byte(data), `":null`); got != want {
			t.Errorf("%s has a null: %t", data, got)
		}
	}
}

// measured is a kind with a number that JSON may be unable to express.
type measured struct {
	metav1.PartialObjectMetadata
	Values map[string]*float64 `json:"values,omitempty"`
}

// other has no resourceVersion where Kubernetes' messages have it.
type other struct{ metav1.PartialObjectMetadata }

func (o *other) Marshal() ([]byte, error) { return []byte("\x0a\x00"), nil }

func bound[T Message](t *testing.T, create func() T) *Versions[T] {
	t.Helper()
	all, err := Kind[T]{Group: "g.example.com", Kind: "Odd", New: create, Versions: []Version[T]{
		VersionOf(api.VersionInfo{Name: "v1"}, Conversion[T, T]{New: create, Proto: ProtoOf[T]()}),
	}}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// listed is a kind with a list whose tag lacks omitempty.
type listed struct {
	metav1.PartialObjectMetadata
	Items []string `json:"items"`
}

// TestCustomResourcesKeepEmptyLists: protobuf has no empty list, so that one of a kind of Kubernetes is null when it is
// read back. A custom resource keeps it, although its type has methods for protobuf, in which it isn't stored, and a
// client that writes protobuf sends it.
func TestCustomResourcesKeepEmptyLists(t *testing.T) {
	create := func() *listed { return &listed{} }
	for custom, want := range map[bool]string{false: `"items":null`, true: `"items":[]`} {
		all, err := Kind[*listed]{Group: "g.example.com", Kind: "Listed", New: create, Versions: []Version[*listed]{
			VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*listed, *listed]{
				New: create, Proto: ProtoOf[*listed](), Custom: custom,
			}),
		}}.Bind("v1")
		if err != nil {
			t.Fatal(err)
		}
		body := verb.Body{Data: []byte(`{"apiVersion":"g.example.com/v1","kind":"Listed","items":[]}`)}
		obj, _, err := all.Served[0].DecodeBody(create(), body)
		if err != nil {
			t.Fatal(err)
		}
		if data, err := all.EncodeStored(obj); err != nil || !strings.Contains(string(data), want) {
			t.Errorf("custom %t: %s is stored, %v", custom, data, err)
		}
		message, err := all.EncodeMessage(obj)
		if err != nil {
			t.Fatal(err)
		}
		sent, _, err := all.Served[0].DecodeBody(create(), verb.Body{Encoding: verb.Protobuf, Data: message})
		if err != nil || (sent.Items != nil) != custom {
			t.Errorf("custom %t: %#v is read from protobuf, %v", custom, sent.Items, err)
		}
		if in := all.StoredIn(verb.Protobuf); (in == verb.JSON) != custom {
			t.Errorf("custom %t: it is stored in %v", custom, in)
		}
	}
}

// What JSON can't express isn't stored in protobuf either, since no list of it could be shown.
func TestStoredMessageCanBeShown(t *testing.T) {
	all := bound(t, func() *measured { return &measured{} })
	one, nan := 1.5, math.NaN()
	if _, err := all.EncodeMessage(&measured{Values: map[string]*float64{"a": &one}}); err != nil {
		t.Error(err)
	}
	_, err := all.EncodeMessage(&measured{Values: map[string]*float64{"a": &nan}})
	var unsupported *json.UnsupportedValueError
	if !errors.As(err, &unsupported) {
		t.Error(err)
	}
	if holds(reflect.TypeFor[*metav1.PartialObjectMetadata](), isFloat, map[reflect.Type]bool{}) {
		t.Error("metadata has floats")
	}
}

// Protobuf has no null in a map, so that an object with one is stored as it is read back.
func TestHasNulls(t *testing.T) {
	for of, want := range map[reflect.Type]bool{
		reflect.TypeFor[*metav1.PartialObjectMetadata]():    false,
		reflect.TypeFor[*measured]():                        true,
		reflect.TypeFor[struct{ In []map[string][]byte }](): true,
		reflect.TypeFor[map[string]struct{ A []string }]():  false,
		reflect.TypeFor[map[string]any]():                   true,
	} {
		if got := holds(of, hasNulls, map[reflect.Type]bool{}); got != want {
			t.Errorf("%v has maps of nulls: %t", of, got)
		}
	}
}

// A version's own functions take the place of reflection.
func TestWithJSON(t *testing.T) {
	create := func() *measured { return &measured{} }
	version := WithJSON(VersionOf(api.VersionInfo{Name: "v1"}, Conversion[*measured, *measured]{New: create}),
		JSON[*measured]{
			Marshal: func(obj *measured) ([]byte, error) { return []byte(`{"own":"` + obj.Name + `"}`), nil },
			Unmarshal: func(data []byte, obj *measured, strictly bool) ([]error, error) {
				obj.Name = string(data)
				if strictly {
					return []error{errors.New("strict")}, nil
				}
				return nil, nil
			},
		})
	all, err := Kind[*measured]{
		Group: "g.example.com", Kind: "Odd", New: create, Versions: []Version[*measured]{version},
	}.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	const stored = `{"kind":"Odd","apiVersion":"g.example.com/v1","name":"a"}`
	if obj, err := all.Decode([]byte(stored)); err != nil || obj.Name != stored {
		t.Errorf("decoded %+v, %v", obj, err)
	}
	obj := create()
	obj.Name = "a"
	const want = `{"kind":"Odd","apiVersion":"g.example.com/v1","own":"a"}`
	if data, err := all.Encode(obj); err != nil || string(data) != want {
		t.Errorf("encoded %s, %v", data, err)
	}
	_, warnings, err := all.Storage.DecodeBody(create(), verb.Body{
		Version: "v1", Data: []byte(`{}`), Validation: metav1.FieldValidationWarn,
	})
	if err != nil || len(warnings) != 1 || warnings[0] != "strict" {
		t.Errorf("warned %q, %v", warnings, err)
	}
}

func TestStoredIn(t *testing.T) {
	known, unknown := bound(t, func() *measured { return &measured{} }), bound(t, func() *other { return &other{} })
	for name, c := range map[string]struct{ got, want verb.Encoding }{
		"protobuf":         {known.StoredIn(verb.Protobuf), verb.Protobuf},
		"JSON":             {known.StoredIn(verb.JSON), verb.JSON},
		"without a number": {unknown.StoredIn(verb.Protobuf), verb.JSON},
	} {
		if c.got != c.want {
			t.Errorf("%s: stored in %v, want %v", name, c.got, c.want)
		}
	}
}

// BenchmarkEncodeStored encodes an object of 2 KiB of a kind with protobuf: without a null, as kubectl applied it, and
// with an empty list, for which the object passes through protobuf.
func BenchmarkEncodeStored(b *testing.B) {
	create := func() *metav1.PartialObjectMetadata { return &metav1.PartialObjectMetadata{} }
	all, err := Kind[*metav1.PartialObjectMetadata]{
		Group: "g.example.com", Kind: "Odd", New: create,
		Versions: []Version[*metav1.PartialObjectMetadata]{VersionOf(api.VersionInfo{Name: "v1"},
			Conversion[*metav1.PartialObjectMetadata, *metav1.PartialObjectMetadata]{
				New: create, Proto: ProtoOf[*metav1.PartialObjectMetadata](),
			})},
	}.Bind("v1")
	if err != nil {
		b.Fatal(err)
	}
	plain := metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"note": strings.Repeat(`{"a":"x"}`, 200)}}
	applied, empty := *plain.DeepCopy(), *plain.DeepCopy()
	applied.Annotations["applied"] = `{"metadata":{"finalizers":[]}}`
	empty.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(`{"f:spec":[]}`)}}
	for name, meta := range map[string]metav1.ObjectMeta{"plain": plain, "applied": applied, "empty list": empty} {
		obj := &metav1.PartialObjectMetadata{ObjectMeta: meta}
		for how, encode := range map[string]func(*metav1.PartialObjectMetadata) ([]byte, error){
			"encode": all.Encode, "encode stored": all.EncodeStored,
		} {
			b.Run(name+"/"+how, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := encode(obj); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
