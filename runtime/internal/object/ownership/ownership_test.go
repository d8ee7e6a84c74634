package ownership

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/structured-merge-diff/v6/merge"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

var kind = schema.GroupVersionKind{Group: "e.com", Version: "v1", Kind: "Thing"}

const version = fieldpath.APIVersion("e.com/v1")

// document describes Thing: items is a list by name, tags a set, and whole is atomic where atomic says so.
func document(atomic string) map[string]api.Document {
	return map[string]api.Document{"v1": jsondoc.New([]byte(`{"components":{"schemas":{"Thing":{
		"type":"object","properties":{
		"apiVersion":{"type":"string"},"kind":{"type":"string"},
		"metadata":{"type":"object","properties":{
			"name":{"type":"string"},
			"annotations":{"type":"object","additionalProperties":{"type":"string"}}}},
		"items":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{
			"type":"object","properties":{"name":{"type":"string"},"n":{"type":"integer"}}}},
		"tags":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}},
		"whole":{"type":"object",` + atomic + `"properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}},
		"x-kubernetes-group-version-kind":[{"group":"e.com","version":"v1","kind":"Thing"}]}}}}`))}
}

// manager has one version; others aren't served.
func manager(t testing.TB, atomic string) *Manager {
	t.Helper()
	types, err := NewSchemas(kind.Group, document(atomic)).Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	return &Manager{Version: version, Types: types, Sets: &Sets{},
		Convert: func(object *typed.TypedValue, to fieldpath.APIVersion) (*typed.TypedValue, error) {
			if to != version {
				return nil, ErrNotServed
			}
			return object, nil
		}}
}

// thing is an Object made of JSON.
type thing struct {
	m    *Manager
	data string
}

func (o thing) At(at fieldpath.APIVersion) (*typed.TypedValue, error) {
	if at != version {
		return nil, ErrNotServed
	}
	return o.m.types(parsed(o.data), typed.AllowDuplicates)
}

func parsed(members string) map[string]any {
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON([]byte(`{"apiVersion":"e.com/v1","kind":"Thing"` + members + `}`)); err != nil {
		panic(err)
	}
	return u.Object
}

func entry(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, APIVersion: string(version),
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields)}
}

func text(entries []metav1.ManagedFieldsEntry) string {
	var out []string
	for _, e := range entries {
		out = append(out, fmt.Sprintf("%s %s %s %s", e.Manager, e.Operation, e.APIVersion, e.FieldsV1.GetRawString()))
	}
	return strings.Join(out, "\n")
}

func TestUpdate(t *testing.T) {
	m := manager(t, "")
	stored := []metav1.ManagedFieldsEntry{
		entry("a", metav1.ManagedFieldsOperationApply,
			`{"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:n":{},"f:name":{}}}}`),
		entry("u", metav1.ManagedFieldsOperationUpdate, `{"f:tags":{"v:\"p\"":{}}}`),
	}
	cases := map[string]struct {
		stored     []metav1.ManagedFieldsEntry
		live, next string
		want       string
	}{
		"nothing changed": {stored, `,"tags":["p"]`, `,"tags":["p"]`, text(stored)},
		"an item's field": {stored, `,"items":[{"name":"x","n":1}]`, `,"items":[{"name":"x","n":2}]`,
			"a Apply e.com/v1 {\"f:items\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\".\":{},\"f:name\":{}}}}\n" +
				text(stored[1:]) +
				"\nw Update e.com/v1 {\"f:items\":{\"k:{\\\"name\\\":\\\"x\\\"}\":{\"f:n\":{}}}}"},
		"a manager without fields": {stored, `,"tags":["p"]`, ``, text(stored[:1])},
		"a version that is gone": {[]metav1.ManagedFieldsEntry{{Manager: "o", Operation: "Update",
			APIVersion: "e.com/v0", FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(`{"f:tags":{}}`)}}, `,"tags":["p"]`, `,"tags":["p","q"]`,
			`w Update e.com/v1 {"f:tags":{"v:\"q\"":{}}}`},
		"undecodable entries are dropped": {[]metav1.ManagedFieldsEntry{{Manager: "o"}}, ``, `,"tags":["q"]`, ""},
		"what identifies the object": {stored, `,"metadata":{"name":"a"}`, `,"metadata":{"name":"b"}`,
			text(stored)},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := m.Update(thing{m, c.live}, thing{m, c.next}, c.stored, nil, false, "w")
			if err != nil || text(got) != c.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, text(got), c.want)
			}
		})
	}
}

// A map that became atomic after its set was recorded is managed as a whole, in every later write.
func TestManagersFollowTheSchema(t *testing.T) {
	m := manager(t, `"x-kubernetes-map-type":"atomic",`)
	stored := []metav1.ManagedFieldsEntry{entry("a", metav1.ManagedFieldsOperationApply,
		`{"f:whole":{"f:a":{},"f:b":{}}}`)}
	for range 2 {
		got, err := m.Update(thing{m, `,"whole":{"a":1,"b":2}`}, thing{m, `,"whole":{"a":1,"b":2},"tags":["p"]`},
			stored, nil, false, "w")
		if want := "a Apply e.com/v1 {\"f:whole\":{}}\nw Update e.com/v1 " +
			"{\"f:tags\":{\".\":{},\"v:\\\"p\\\"\":{}}}"; err != nil || text(got) != want {
			t.Errorf("%v\ngot  %s\nwant %s", err, text(got), want)
		}
	}
}

func TestConflictsAreNamedInOrder(t *testing.T) {
	path := func(name string) fieldpath.Path { return fieldpath.MakePathOrDie(name) }
	id := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) string {
		m := &Manager{Version: version, Subresource: subresource}
		return identityOf(manager, operation, m).key()
	}
	conflicts := merge.Conflicts{
		{Manager: id("z", metav1.ManagedFieldsOperationApply, ""), Path: path("a")},
		{Manager: id("b", metav1.ManagedFieldsOperationUpdate, "status"), Path: path("b")},
		{Manager: "not JSON", Path: path("c")},
		{Manager: id("z", metav1.ManagedFieldsOperationApply, ""), Path: path("d")},
		{Manager: id("", metav1.ManagedFieldsOperationUpdate, ""), Path: path("e")},
	}
	want := "Apply failed with 5 conflicts: conflicts with \"not JSON\":\n- .c\nconflicts with \"b\" with " +
		"subresource \"status\" using e.com/v1:\n- .b\n" +
		"conflicts with \"unknown\" using e.com/v1:\n- .e\nconflicts with \"z\":\n- .a\n- .d"
	if got := conflictError(conflicts).Error(); !strings.Contains(got,
		strings.TrimPrefix(want, "Apply failed with 5 conflicts: conflicts with \"not JSON\":\n- .c\n")) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestUndecodableManagers(t *testing.T) {
	m := manager(t, "")
	fine := entry("a", metav1.ManagedFieldsOperationApply, `{"f:tags":{}}`)
	for want, change := range map[string]func(*metav1.ManagedFieldsEntry){
		"operation must be `Apply` or `Update`": func(
			e *metav1.ManagedFieldsEntry) {
			e.Operation = "Delete"
		},
		"apiVersion must not be empty": func(
			e *metav1.ManagedFieldsEntry) {
			e.APIVersion = ""
		},
		"missing fieldsType in managed fields entry 0": func(
			e *metav1.ManagedFieldsEntry) {
			e.FieldsType = ""
		},
		`invalid fieldsType "V2" in managed fields entry 0`: func(
			e *metav1.ManagedFieldsEntry) {
			e.FieldsType = "V2"
		},
		"error decoding the fields of managed " +
			"fields entry 0:": func(e *metav1.ManagedFieldsEntry) { e.FieldsV1 = metav1.NewFieldsV1(`{"x`) },
	} {
		broken := fine
		change(&broken)
		live := &Live{Object: thing{m, ``}, Empty: thing{m, ``}, ManagedFields: []metav1.ManagedFieldsEntry{broken}}
		_, err := m.Apply(live, parsed(`,"tags":["p"]`), "m", false)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

func TestSetsAreBoundedAndShared(t *testing.T) {
	sets := &Sets{}
	raw := func(i int) string { return fmt.Sprintf(`{"f:spec":{"f:%d-%s":{}}}`, i, strings.Repeat("x", 1000)) }
	first, err := sets.decode(metav1.NewFieldsV1(raw(0)))
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := sets.decode(metav1.NewFieldsV1(raw(0))); again != first {
		t.Error("a set was decoded twice")
	}
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 2000 {
				set, err := sets.decode(metav1.NewFieldsV1(raw(i)))
				if err != nil {
					t.Error(err)
				}
				fields, err := sets.encode(set.set)
				if err != nil || fields.GetRawString() != raw(i) {
					t.Error(err, fields)
				}
				sets.setReconciled(fields, version)
				_ = sets.isReconciled(fields, version)
			}
		})
	}
	all.Wait()
	size := 0
	for _, generation := range []map[string]*known{sets.young, sets.old} {
		for raw := range generation {
			size += len(raw)
		}
	}
	if size > 2*maxSets || size < maxSets/2 {
		t.Errorf("%d bytes are remembered", size)
	}
	if big := metav1.NewFieldsV1(`{"f:` + strings.Repeat("x", maxSets) + `":{}}`); sets.young != nil {
		if _, err := sets.decode(big); err != nil || sets.young[big.GetRawString()] != nil {
			t.Errorf("%v, or what is too big is remembered", err)
		}
	}
}

func TestSchemas(t *testing.T) {
	schemas := NewSchemas(kind.Group, map[string]api.Document{"v1": document("")["v1"],
		"v2": jsondoc.New([]byte(`{`)), "v3": jsondoc.New([]byte(`{}`))})
	object := func(version string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"anything": map[string]any{"goes": []any{int64(1)}}}}
		u.SetGroupVersionKind(kind.GroupKind().WithVersion(version))
		return u
	}
	strict, err := schemas.Of(kind)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := strict.ObjectToTyped(object("v1")); err == nil ||
		!strings.Contains(err.Error(), ".anything: field not declared in schema") {
		t.Error(err)
	}
	if _, err := schemas.Of(kind.GroupKind().WithVersion("v2")); err == nil ||
		!strings.Contains(err.Error(), "the OpenAPI document of e.com/v2") {
		t.Error(err)
	}
	for _, version := range []string{"v3", "v4"} { // not described, and without a document
		types, err := schemas.Of(kind.GroupKind().WithVersion(version))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := types.ObjectToTyped(object(version)); err != nil {
			t.Error(err)
		}
	}
}

func TestLastApplied(t *testing.T) {
	config := parsed(`,"metadata":{"annotations":{"` + LastAppliedAnnotation + `":"old","a":"b"}},"tags":["<"]`)
	got, err := LastApplied(config)
	want := `{"apiVersion":"e.com/v1","kind":"Thing","metadata":{"annotations":{"a":"b"}},"tags":["\u003c"]}` + "\n"
	if err != nil || got != want {
		t.Errorf("%v\ngot  %s\nwant %s", err, got, want)
	}
	metadata := config["metadata"].(map[string]any)
	if annotations := metadata["annotations"].(map[string]any); annotations[LastAppliedAnnotation] != "old" {
		t.Error("what is applied was changed")
	}
}

// FuzzManagers: whatever clients store as managedFields, an update answers, and what it returns can be read again.
func FuzzManagers(f *testing.F) {
	f.Add("m", "Apply", "e.com/v1", "FieldsV1",
		`{"f:tags":{"v:\"p\"":{}},"f:items":{"k:{\"name\":\"x\"}":{".":{},"f:n":{}}}}`)
	f.Add("", "Update", "v1", "FieldsV1", `{"i:0":{},"v:1":{},".":{},"f:":{}}`)
	f.Add("x", "Update", "a/b/c", "FieldsV1", `{"k:{}":{}}`)
	m := manager(f, "")
	f.Fuzz(func(t *testing.T, manager, operation, apiVersion, fieldsType, fields string) {
		stored := []metav1.ManagedFieldsEntry{{Manager: manager,
			Operation: metav1.ManagedFieldsOperationType(operation), APIVersion: apiVersion,
			FieldsType: fieldsType, FieldsV1: metav1.NewFieldsV1(fields)}}
		live, next := thing{m, `,"tags":["p"],"items":[{"name":"x","n":1}]`},
			thing{m, `,"tags":["q"],"items":[{"name":"x","n":2}]`}
		for _, sent := range [][]metav1.ManagedFieldsEntry{nil, stored} {
			got, err := m.Update(live, next, stored, sent, false, "w")
			if err != nil {
				continue
			}
			if err := managedfields.ValidateManagedFields(got); err != nil {
				t.Fatalf("%v of %s", err, text(got))
			}
			if data, err := json.Marshal(got); err != nil || !json.Valid(data) {
				t.Fatal(err)
			}
		}
		_, err := m.Apply(&Live{Object: live, Empty: thing{m, ``}, ManagedFields: stored}, parsed(`,"tags":["r"]`), "m",
			false)
		if errors.Is(err, ErrNotServed) {
			t.Fatal(err)
		}
	})
}

// TestUnknownElements: what is encoded again has no elements of types that nobody knows, is in the usual order, and has
// no managers without fields, as in kube-apiserver.
func TestUnknownElements(t *testing.T) {
	for encoded, want := range map[string]string{
		`{"f:a":{},"f:b":{".":{},"f:c":{}}}`: `{"f:a":{},"f:b":{".":{},"f:c":{}}}`,
		`{"x:spec":{},"f:a":{}}`:             `{"f:a":{}}`,
		`{"f:b":{"f:c":{},".":{}},"f:a":{}}`: `{"f:a":{},"f:b":{".":{},"f:c":{}}}`,
		`{"x:spec":{"f:a":{}}}`:              "",
		`{}`:                                 "",
	} {
		sets := &Sets{}
		for range 2 { // the second one knows the set
			fields := &metav1.FieldsV1{}
			fields.SetRawBytes([]byte(encoded))
			all, err := sets.managers([]metav1.ManagedFieldsEntry{{Manager: "m", APIVersion: "e.com/v1",
				Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: fieldsType, FieldsV1: fields}})
			if err != nil {
				t.Fatal(err)
			}
			entries, err := all.entries()
			got := ""
			if len(entries) > 0 {
				got = entries[0].FieldsV1.GetRawString()
			}
			if err != nil || got != want || (entries == nil) != (want == "") {
				t.Errorf("%s became %s, %v; want %s", encoded, got, err, want)
			}
		}
	}
}
