package patch

import (
	"encoding/json"
	"reflect"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// FuzzJSONPatch: a patch that is applied in pieces, behind bounds, makes what the library makes of it at once, and
// fails where it fails.
func FuzzJSONPatch(f *testing.F) {
	const object = `{"kind":"Widget","metadata":{"name":"a","labels":{"x":"1"},"finalizers":["a","b"]},` +
		`"spec":{"size":3,"notes":{"k/~":"v"}}}`
	for _, seed := range []string{
		`[]`, `[{"op":"add","path":"/metadata/labels/y","value":"2"},{"op":"copy","from":"/metadata",` +
			`"path":"/spec/copy"},{"op":"remove","path":"/spec/copy/name"}]`,
		`[{"op":"copy","from":"/spec","path":"/spec/notes"},{"op":"copy","from":"/spec","path":"/spec/notes"}]`,
		`[{"op":"move","from":"/metadata/finalizers/0","path":"/metadata/finalizers/-"}]`,
		`[{"op":"test","path":"/spec/size","value":3.0},{"op":"replace","path":"/spec/notes/k~1~0","value":null}]`,
		`[{"op":"replace","path":"","value":{}}]`,
		`[{"op":"remove","path":"/metadata/finalizers/-1"}]`,
		`[{"op":"add","path":"/metadata/finalizers/9","value":"x"}]`, `[{"op":"nonsense","path":"/a"}]`, `[null]`, `{}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, patch string) {
		mine, _, err := newJSONPatch([]byte(patch), true)
		if err != nil {
			if status := apierrors.ReasonForError(err); status == "" {
				t.Fatalf("%s: %v is no status", patch, err)
			}
			return
		}
		got, err := mine.Apply([]byte(object))
		if apierrors.IsRequestEntityTooLargeError(err) {
			return
		}
		want, wantErr := atOnce(patch, object)
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("%s: %v, want %v", patch, err, wantErr)
		}
		if err == nil && !sameJSON(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", patch, got, want)
		}
	})
}

// atOnce applies a patch as the library does, whose panics are errors of the patch.
func atOnce(patch, object string) ([]byte, error) {
	return safely(func() ([]byte, error) {
		operations, err := jsonpatch.DecodePatch([]byte(patch))
		if err != nil {
			return nil, err
		}
		return operations.Apply([]byte(object))
	})
}

func sameJSON(a, b []byte) bool {
	var one, other any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return string(a) == string(b)
	}
	return reflect.DeepEqual(one, other)
}
