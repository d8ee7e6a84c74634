package registry

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
)

// twoVersions are odds in v1, which is stored, and in v2, which says "was" of what v1 says "is".
func twoVersions(t testing.TB) *versions[*odd] {
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
	definition := oddDefinition(Conversion[*odd, *odd]{New: newOdd})
	definition.Versions = append(definition.Versions, VersionOf(api.VersionInfo{Name: "v2"}, Conversion[*odd, *odd]{
		New: newOdd, ToHub: swap("was", "is"), FromHub: swap("is", "was"),
	}))
	all, err := bindVersions(definition)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const managers = `[{"manager":"kubectl","operation":"Update","apiVersion":"g.example.com/v1","time":"2024-05-01T10:00:00Z",` +
	`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:note":{}},"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:is":{},"f:size":{}}}}]`

// storedOdd is an odd as the cache has it.
func storedOdd(t testing.TB, all *versions[*odd], object string) api.Rendition {
	t.Helper()
	obj, err := all.decode([]byte(`{` + all.storage.head + object[1:]))
	if err != nil {
		t.Fatal(err)
	}
	data, err := all.encode(obj)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := newRendition(data, all.storage.head)
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
		"among others":       {`{"metadata":{"name":"a","resourceVersion":"7","managedFields":` + managers + `},"spec":{"is":1}}`, true},
		"behind annotations": {`{"metadata":{"name":"a","annotations":{"managedFields":"}]\"","x":"\\"},"managedFields":` + managers + `},"spec":{"managedFields":[1]}}`, true},
		"with owners":        {`{"metadata":{"name":"a","resourceVersion":"7","finalizers":["f"],"managedFields":` + managers + `}}`, true},
		"alone":              {`{"metadata":{"managedFields":` + managers + `},"spec":{"is":1}}`, false},
		"none":               {`{"metadata":{"name":"a","resourceVersion":"7"},"spec":{"managedFields":[]}}`, false},
		"no metadata":        {`{"spec":{"is":1}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			stored, v2 := storedOdd(t, all, c.object), all.named("v2")
			if _, _, cut := withoutManaged(stored); cut != c.cut {
				t.Fatalf("cut %t from %s", cut, stored.Payload)
			}
			hub, err := all.decode(whole(stored))
			if err != nil {
				t.Fatal(err)
			}
			data, err := v2.encode(hub)
			if err != nil {
				t.Fatal(err)
			}
			want, err := newRendition(data, v2.head)
			if err != nil {
				t.Fatal(err)
			}
			for shape, want := range map[api.Shape]api.Rendition{api.Whole: want, api.Metadata: mustMetadata(t, want)} {
				got, err := all.render(stored, api.Form{Version: "v2", Shape: shape})
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

func mustMetadata(t *testing.T, r api.Rendition) api.Rendition {
	t.Helper()
	m, err := metadataIn(r, api.Metadata)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// FuzzManaged: whatever the object, managedFields that are cut and put back are where they were.
func FuzzManaged(f *testing.F) {
	f.Add(`{"metadata":{"name":"a","managedFields":[{"x":1}]},"spec":{}}`)
	f.Add(`{"metadata":{"managedFields":[]}}`)
	f.Add(`{"metadata":{"a":1,"managedFields":{}, "b":2},"metadata":{}}`)
	f.Add(`{"metadata": {"a":"managedFields","managedFields" : 0 } }`)
	f.Fuzz(func(t *testing.T, object string) {
		var want any
		if json.Unmarshal([]byte(object), &want) != nil || !strings.HasPrefix(object, "{") {
			return
		}
		r := api.Rendition{Payload: []byte(object)[1:]}
		cut, managed, ok := withoutManaged(r)
		if !ok {
			return
		}
		back, ok := withManaged(api.Rendition{Payload: cut[1:]}, managed)
		if !ok {
			return // twice the same member
		}
		var got any
		if err := json.Unmarshal(whole(back), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s became %s (%v)", object, whole(back), err)
		}
	})
}

// BenchmarkRender makes another version of objects as large as many are.
func BenchmarkRender(b *testing.B) {
	all := twoVersions(b)
	note := strings.Repeat("x", 600)
	stored := storedOdd(b, all, `{"metadata":{"name":"a","namespace":"default","uid":"c3d9b0f8-0c4f-4f0e-9d6b-6a2f0d1b7c11","resourceVersion":"123456","generation":1,`+
		`"creationTimestamp":"2024-05-01T10:00:00Z","labels":{"app":"a"},"annotations":{"note":"`+note+`"},"managedFields":`+managers+`},"spec":{"is":"x","size":3}}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := all.render(stored, api.Form{Version: "v2"}); err != nil {
			b.Fatal(err)
		}
	}
}
