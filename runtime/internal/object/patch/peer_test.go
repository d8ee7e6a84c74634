package patch

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	kjson "sigs.k8s.io/json"
)

// pod has lists of all strategies, in types that the library knows.
type pod struct {
	Name       string            `json:"name,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	Finalizers []string          `json:"finalizers,omitempty" patchStrategy:"merge"`
	Args       []string          `json:"args,omitempty"`
	Numbers    []int             `json:"numbers,omitempty" patchStrategy:"merge"`
	Boxes      []box             `json:"boxes,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Volumes    []box             `json:"volumes,omitempty" patchStrategy:"merge,retainKeys" patchMergeKey:"name"`
	Plain      []box             `json:"plain,omitempty"`
	Keyless    []box             `json:"keyless,omitempty" patchStrategy:"merge"`
	Keyed      []string          `json:"keyed,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
	Replaced   box               `json:"replaced,omitempty" patchStrategy:"replace"`
	Retained   *box              `json:"retained,omitempty" patchStrategy:"retainKeys"`
	Odd        *box              `json:"odd,omitempty" patchStrategy:"merge,replace"`
	Nested     *pod              `json:"nested,omitempty"`
}

type box struct {
	Name string   `json:"name,omitempty"`
	Size int      `json:"size,omitempty"`
	Tags []string `json:"tags,omitempty" patchStrategy:"merge"`
	In   []box    `json:"in,omitempty" patchStrategy:"merge" patchMergeKey:"name"`
}

// patches makes random objects and patches.
type patches struct{ *rand.Rand }

func (r patches) one(of ...any) any { return of[r.IntN(len(of))] }

func (r patches) in(n int) bool { return r.IntN(n) == 0 }

// pod returns a random pod, or a patch of one.
func (r patches) pod(depth int, patch bool) map[string]any {
	out := map[string]any{}
	lists := []string{"finalizers", "args", "numbers", "boxes", "volumes", "plain", "keyless", "keyed"}
	for _, name := range lists {
		if r.in(2) {
			continue
		}
		out[name] = r.list(name, 1, patch)
		if !patch || !r.in(3) {
			continue
		}
		out["$setElementOrder/"+name] = r.order(name, out[name])
		if r.in(3) {
			delete(out, name)
		}
	}
	if patch && r.in(3) {
		out[r.one("$deleteFromPrimitiveList/finalizers", "$deleteFromPrimitiveList/args",
			"$deleteFromPrimitiveList/boxes", "$deleteFromPrimitiveList/name", "$deleteFromPrimitiveList",
			"$deleteFromPrimitiveList/numbers", "$deleteFromPrimitiveList/").(string)] =
			r.one([]any{"a", "b"}, []any{1, 2}, []any{}, "a")
	}
	for _, name := range []string{"replaced", "retained", "odd"} {
		if r.in(3) {
			out[name] = r.box(1, patch)
		}
	}
	if r.in(2) {
		out["labels"] = map[string]any{"a": r.one("x", "y"), r.one("b", "c").(string): "z"}
	}
	if r.in(2) {
		out["name"] = r.one("n", "m")
	}
	if depth > 0 && r.in(2) {
		out["nested"] = r.pod(depth-1, patch)
	}
	if patch {
		r.direct(out)
	}
	return out
}

// direct puts directives and mistakes into a patch.
func (r patches) direct(out map[string]any) {
	if r.in(20) {
		out["$patch"] = r.one("replace", "delete", "merge", "other", 1)
	}
	if r.in(8) {
		out["$retainKeys"] = r.one([]any{"name", "size", "tags"}, []any{"name", "labels", "boxes", "finalizers"},
			"name")
	}
	for _, name := range slices.Sorted(maps.Keys(out)) {
		switch {
		case !r.in(30):
		case name == "name": // one that is an object or a list panics in the library, or does not, and never decodes
			out[name] = r.one(nil, 1, "e")
		default:
			out[name] = r.one(nil, "text", 1, []any{}, []any{nil, 1}, []any{1, nil}, map[string]any{},
				[]any{[]any{1}}, []any{"a", 1})
		}
	}
	if r.in(40) {
		out["unknown"] = r.one(map[string]any{"a": 1}, []any{1}, 1)
	}
}

func (r patches) list(name string, depth int, patch bool) any {
	list := []any{}
	for range r.IntN(5) {
		switch name {
		case "finalizers", "args", "keyed":
			list = append(list, r.one("a", "b", "c", "d"))
		case "numbers":
			list = append(list, r.one(1, 2, 3, 4))
		default:
			list = append(list, r.box(depth, patch))
		}
	}
	return list
}

func (r patches) box(depth int, patch bool) map[string]any {
	out := map[string]any{"name": r.one("a", "b", "c", "d")}
	if r.in(2) {
		out["size"] = r.IntN(3)
	}
	if r.in(3) {
		out["tags"] = r.list("args", 0, patch)
	}
	if depth > 0 && r.in(3) {
		out["in"] = r.list("boxes", depth-1, patch)
	}
	if !patch {
		return out
	}
	if r.in(6) {
		out["$patch"] = r.one("delete", "delete", "replace", "merge")
	}
	if r.in(20) {
		delete(out, "name")
	}
	r.direct(out)
	return out
}

// order returns the value of a directive: most often the items of the patch in their order, and others.
func (r patches) order(name string, list any) any {
	items, ok := list.([]any)
	if !ok || r.in(10) {
		return r.one([]any{}, "a", []any{"b"}, []any{map[string]any{"name": "b"}}, []any{map[string]any{}})
	}
	var order []any
	for _, item := range slices.Concat(items, []any{r.list(name, 0, false)}) {
		switch item := item.(type) {
		case map[string]any:
			order = append(order, map[string]any{"name": item["name"]})
		case []any:
			if len(item) > 0 {
				order = append(order, item[0])
			}
		default:
			order = append(order, item)
		}
	}
	if r.in(10) {
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	return order
}

// TestStrategicIsKubernetes compares random patches with the library of kube-apiserver.
func TestStrategicIsKubernetes(t *testing.T) {
	applied, refused := 0, 0
	for seed := range uint64(6_000) {
		r := patches{rand.New(rand.NewPCG(seed, 1))}
		object, patch := r.pod(1, false), r.pod(1, true)
		if compareStrategic(t, asJSON(t, object), asJSON(t, patch)) {
			applied++
		} else {
			refused++
		}
	}
	if min(applied, refused) < 1000 {
		t.Errorf("%d patches are applied and %d refused", applied, refused)
	}
}

func asJSON(t testing.TB, value any) []byte {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// compareStrategic reports whether both apply a patch. Of several faults, or of several directives about one member,
// the library takes one by chance: what we answer must be among its answers.
func compareStrategic(t testing.TB, object, patch []byte) bool {
	t.Helper()
	got, err := (&Strategic{data: patch, rules: RulesOf(reflect.TypeFor[pod]())}).Apply(object)
	for try := range 200 {
		want, wantErr := applyTheirs(object, patch)
		switch {
		case err == nil && wantErr == nil && sameJSON(got, want):
			return true
		case err != nil && wantErr != nil && codeOf(err) == codeOf(wantErr):
			return false
		}
		if try == 199 {
			t.Fatalf("object %s\npatch  %s\n got %s, %v\nwant %s, %v", object, patch, got, err, want, wantErr)
		}
	}
	return false
}

func codeOf(err error) string {
	if status, ok := err.(apierrors.APIStatus); ok {
		return fmt.Sprint(status.Status().Code)
	}
	return err.Error()
}

// applyTheirs applies a patch as kube-apiserver's library does.
func applyTheirs(object, patch []byte) ([]byte, error) {
	return safely(func() ([]byte, error) {
		var original, changes map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &original); err != nil {
			return nil, err
		}
		if err := kjson.UnmarshalCaseSensitivePreserveInts(patch, &changes); err != nil {
			return nil, err
		}
		meta := strategicpatch.PatchMetaFromStruct{T: reflect.TypeFor[pod]()}
		merged, err := strategicpatch.StrategicMergeMapPatchUsingLookupPatchMeta(original, changes, meta)
		if err != nil {
			return nil, strategicError(err)
		}
		return json.Marshal(merged)
	})
}

// FuzzStrategic compares patches that are no mistakes of ours alone with the library.
func FuzzStrategic(f *testing.F) {
	for seed := range uint64(20) {
		r := patches{rand.New(rand.NewPCG(seed, 2))}
		f.Add(asJSON(f, r.pod(1, false)), asJSON(f, r.pod(1, true)))
	}
	f.Fuzz(func(t *testing.T, object, patch []byte) {
		typed := new(pod)
		if kjson.UnmarshalCaseSensitivePreserveInts(object, typed) != nil {
			t.Skip("the object isn't one of the type")
		}
		if _, _, err := NewStrategic(patch, Rules{}, true); err != nil {
			t.Skip("the patch isn't JSON")
		}
		compareStrategic(t, asJSON(t, typed), patch)
	})
}
