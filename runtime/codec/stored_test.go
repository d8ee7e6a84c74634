package codec

import (
	"strings"
	"testing"

	"apigen.dev/runtime/api"
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

// BenchmarkEncodeStored encodes an object of 2 KiB of a kind with protobuf: without a null, as kubectl applied it, and
// with a null, for which the object passes through protobuf.
func BenchmarkEncodeStored(b *testing.B) {
	create := func() *metav1.PartialObjectMetadata { return &metav1.PartialObjectMetadata{} }
	all, err := Bind(Kind[*metav1.PartialObjectMetadata]{
		Group: "g.example.com", Kind: "Odd", New: create,
		Versions: []Version[*metav1.PartialObjectMetadata]{VersionOf(api.VersionInfo{Name: "v1"},
			Conversion[*metav1.PartialObjectMetadata, *metav1.PartialObjectMetadata]{
				New: create, Proto: ProtoOf[*metav1.PartialObjectMetadata](),
			})},
	}, "v1")
	if err != nil {
		b.Fatal(err)
	}
	plain := metav1.ObjectMeta{Name: "a", Annotations: map[string]string{"note": strings.Repeat(`{"a":"x"}`, 200)}}
	applied, none := *plain.DeepCopy(), *plain.DeepCopy()
	applied.Annotations["applied"] = `{"metadata":{"creationTimestamp":null}}`
	none.ManagedFields = []metav1.ManagedFieldsEntry{{FieldsV1: metav1.NewFieldsV1(`{"f:spec":null}`)}}
	for name, meta := range map[string]metav1.ObjectMeta{"plain": plain, "applied": applied, "null": none} {
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
