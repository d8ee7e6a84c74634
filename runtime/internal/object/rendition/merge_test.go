package rendition

import (
	"encoding/json"
	"reflect"
	"testing"
)

// FuzzMergePatch compares patches that are spliced into an object with those that are merged into its tree.
func FuzzMergePatch(f *testing.F) {
	f.Add(`{"a":1,"b":{"c":[1,{"d":null}],"e":"f"}}`, `{"b":{"c":null,"e":{"x":null}},"z":[{"y":null}],"a":{"b":1}}`)
	f.Add(`{}`, `{"a":{"b":null}}`)
	f.Add(`{"a\"":1,"\u0062":2}`, `{"b":null,"a\"":{}}`)
	f.Add(`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}}}}`,
		`{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":{"a":2}}}}}}}}}`)
	f.Fuzz(func(t *testing.T, object, data string) {
		var tree map[string]any
		if DecodeTree([]byte(object), &tree) != nil || tree == nil {
			return
		}
		own, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		var patch map[string]any
		if DecodeTree([]byte(data), &patch) != nil || patch == nil {
			return
		}
		out, ok := spliceMerge(nil, own, patch, maxSpliced)
		if !ok {
			return
		}
		mergeInto(tree, patch)
		want, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		if !sameNumbers(t, out, want) {
			t.Fatalf("%s with %s\ngot  %s\nwant %s", own, data, out, want)
		}
	})
}

// sameNumbers compares with the text of numbers.
func sameNumbers(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y map[string]any
	if err := DecodeTree(a, &x); err != nil {
		t.Fatal(err)
	}
	if err := DecodeTree(b, &y); err != nil {
		t.Fatal(err)
	}
	return reflect.DeepEqual(x, y)
}
