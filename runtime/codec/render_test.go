package codec

import (
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
)

// twoVersions are odds in v1, which is stored, and in v2, which says "was" of what v1 says "is".
func twoVersions(t testing.TB) *Versions[*odd] {
	t.Helper()
	swap := func(from, to string) func(in, out *odd) error {
		return func(in, out *odd) error {
			out.ObjectMeta = in.ObjectMeta
			out.Spec = map[string]any{}
			for key, value := range in.Spec {
				if key == from {
					key = to
				}
				out.Spec[key] = value
			}
			return nil
		}
	}
	newOdd := func() *odd { return &odd{} }
	kind := oddKind(Conversion[*odd, *odd]{New: newOdd})
	kind.Versions = append(kind.Versions, VersionOf(api.VersionInfo{Name: "v2"}, Conversion[*odd, *odd]{
		New: newOdd, ToHub: swap("was", "is"), FromHub: swap("is", "was"),
	}))
	all, err := kind.Bind("v1")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const managers = `[{"manager":"kubectl","operation":"Update","apiVersion":"g.example.com/v1",` +
	`"time":"2024-05-01T10:00:00Z",` +
	`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:note":{}},"f:labels":{".":{},` +
	`"f:app":{}}},"f:spec":{"f:is":{},"f:size":{}}}}]`

// storedOdd is an odd as the cache has it.
func storedOdd(t testing.TB, all *Versions[*odd], object string) verb.Rendition {
	t.Helper()
	obj, err := all.Decode([]byte(`{` + all.Storage.Head + object[1:]))
	if err != nil {
		t.Fatal(err)
	}
	data, err := all.Encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := rendition.New(data, all.Storage.Head)
	if err != nil {
		t.Fatal(err)
	}
	return stored
}

// TestOtherVersionsKeepManagedFields: what was not decoded comes out as if it had been.
func TestOtherVersionsKeepManagedFields(t *testing.T) {
	all := twoVersions(t)
	for name, c := range map[string]struct {
		object string
		cut    bool
	}{
		"among others": {`{"metadata":{"name":"a","resourceVersion":"7","managedFields":` + managers +
			`},"spec":{"is":1}}`, true},
		"behind annotations": {`{"metadata":{"name":"a","annotations":{"managedFields":"}]\"","x":"\\"},` +
			`"managedFields":` + managers + `},"spec":{"managedFields":[1]}}`, true},
		"with owners": {`{"metadata":{"name":"a","resourceVersion":"7","finalizers":["f"],"managedFields":` + managers +
			`}}`, true},
		"alone":       {`{"metadata":{"managedFields":` + managers + `},"spec":{"is":1}}`, false},
		"none":        {`{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"managedFields":[]}}`, false},
		"no metadata": {`{"spec":{"is":1}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored, v2 := storedOdd(t, all, c.object), all.ByKey("v2")
			if _, _, cut := rendition.CutManagedFields(stored); cut != c.cut {
				t.Fatalf("cut %t from %s", cut, stored.Payload)
			}
			hub, err := all.Decode(rendition.Whole(stored))
			if err != nil {
				t.Fatal(err)
			}
			data, err := v2.Encode(hub)
			if err != nil {
				t.Fatal(err)
			}
			want, err := rendition.New(data, v2.Head)
			if err != nil {
				t.Fatal(err)
			}
			for shape, want := range map[verb.Shape]verb.Rendition{
				verb.Whole: want, verb.Metadata: mustMetadata(t, want),
			} {
				got, err := all.Render(stored, verb.Form{Version: "v2", Shape: shape})
				if err != nil {
					t.Fatal(err)
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("shape %v:\n%s %d\n%s %d", shape, got.Payload, got.VersionAt, want.Payload, want.VersionAt)
				}
			}
		})
	}
}

func mustMetadata(t *testing.T, r verb.Rendition) verb.Rendition {
	t.Helper()
	m, err := rendition.Metadata(r, verb.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// BenchmarkRender makes another version of objects as large as many are.
func BenchmarkRender(b *testing.B) {
	all := twoVersions(b)
	note := strings.Repeat("x", 600)
	stored := storedOdd(b, all, `{"metadata":{"name":"a","namespace":"default",`+
		`"uid":"c3d9b0f8-0c4f-4f0e-9d6b-6a2f0d1b7c11","resourceVersion":"123456","generation":1,`+
		`"creationTimestamp":"2024-05-01T10:00:00Z","labels":{"app":"a"},"annotations":{"note":"`+note+
		`"},"managedFields":`+managers+`},"spec":{"is":"x","size":3}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := all.Render(stored, verb.Form{Version: "v2"}); err != nil {
			b.Fatal(err)
		}
	}
}
