package validation_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/operation"
)

// TestUpdates: an update checks changed values, and does not check unchanged ones again, wherever they are.
func TestUpdates(t *testing.T) {
	for _, test := range []struct {
		name, at, old, now string
		want               []string
	}{
		{"bad value stays", "crd.bounded", `-1`, `-1`, nil},
		{"bad value becomes another", "crd.bounded", `-1`, `-2`,
			[]string{`crd.bounded: Invalid value: -2: crd.bounded in body should be greater than or equal to 1`}},
		{"bad value becomes good", "crd.bounded", `-1`, `1`, nil},
		{"bad pointer stays", "crd.between", `0`, `0`, nil},
		{"missing stays missing", "crd.needed", `null`, `null`, nil},
		{"missing comes", "crd.needed", `"x"`, `null`, []string{`crd.needed: Required value`}},
		{"zero stays zero", "declarative.required", `""`, `""`, nil},
		{"zero comes", "declarative.required", `"x"`, `""`, []string{`declarative.required: Required value`}},
		{"elements by key, in another order", "crd.ports", `[{"name":"a","number":-1}]`,
			`[{"name":"b","number":1},{"name":"a","number":-1}]`, nil},
		{"element by key changes", "crd.ports", `[{"name":"a","number":-1}]`, `[{"name":"a","number":-2}]`,
			[]string{`crd.ports[0].number: Invalid value: -2: crd.ports[0].number in body should be greater than or ` +
				`equal to 1`}},
		{"another field of an element changes", "crd.ports", `[{"name":"a","number":-1}]`,
			`[{"name":"a","number":-1,"next":{"name":"b"}}]`, nil},
		{"element by value stays", "crd.set", `["low"]`, `["High","low"]`, nil},
		{"element by value comes", "crd.set", `["low"]`, `["low","high"]`,
			[]string{`crd.set[1]: Unsupported value: "high": supported values: "Low", "High"`}},
		{"atomic list stays", "crd.list", `["x","y"]`, `["x","y"]`, nil},
		{"atomic list changes", "crd.list", `["x","a"]`, `["x","b"]`,
			[]string{`crd.list[0]: Unsupported value: "x": supported values: "a", "b", "c", "long"`}},
		{"value of a map stays", "crd.counts", `{"a":0}`, `{"a":0,"b":1}`, nil},
		{"value of a map comes", "crd.counts", `{"a":0}`, `{"b":0}`,
			[]string{`crd.counts[b]: Invalid value: 0: crd.counts[b] in body should be greater than or equal to 1`}},
		{"key of a map stays", "declarative.map", `{"a.b":1}`, `{"a.b":2}`, nil},
		{"pointer of a map stays", "crd.byName", `{"x":{"name":"a","number":-1}}`, `{"x":{"name":"b","number":-1}}`,
			nil},
		{"what has hidden fields stays", "crd.sealed", `[{"text":""}]`, `[{"text":""}]`, nil},
		{"what has hidden fields changes", "crd.sealed", `[{"text":"a"}]`, `[{"text":""}]`,
			[]string{`crd.sealed[0].text: Invalid value: "": crd.sealed[0].text in body ` +
				`should be at least 1 chars long`}},
		{"count of fields stays", "crd", `{"needed":"x","nullable":null,"left":"x","right":0}`,
			`{"needed":"x","nullable":null,"left":"x","right":0}`, nil},

		{"immutable is set", "declarative.fixed", `null`, `"x"`,
			[]string{`declarative.fixed: Invalid value: null: field is immutable`}},
		{"immutable is cleared", "declarative.fixed", `"x"`, `null`,
			[]string{`declarative.fixed: Invalid value: null: field is immutable`}},
		{"immutable stays", "declarative.fixed", `"x"`, `"x"`, nil},
		{"once is set", "declarative.once", `null`, `"x"`, nil},
		{"once is cleared", "declarative.once", `"x"`, `null`,
			[]string{`declarative.once: Invalid value: null: field cannot be cleared once set`}},
		{"once is changed", "declarative.once", `"x"`, `"y"`,
			[]string{`declarative.once: Invalid value: null: field cannot be modified once set`}},
		{"a growing list grows", "declarative.growing", `["a"]`, `["b","a"]`, nil},
		{"a growing list shrinks", "declarative.growing", `["a"]`, `["b"]`,
			[]string{`declarative.growing: Forbidden: item may not be removed`}},
		{"a rising number rises", "declarative.rising", `1`, `2`, nil},
		{"a rising number falls", "declarative.rising", `2`, `1`,
			[]string{`declarative.rising: Invalid value: 1: may not be decreased from 2`}},
		{"a frozen element stays", "declarative.entries", `[{"type":"Frozen","text":"x"}]`,
			`[{"type":"a","text":"x"},{"type":"Frozen","text":"x"}]`, nil},
		{"a frozen element comes", "declarative.entries", `[]`, `[{"type":"Frozen","text":"x"}]`,
			[]string{`declarative.entries[0]: Invalid value: null: field is immutable`}},
		{"a frozen element changes", "declarative.entries", `[{"type":"Frozen","text":"x"}]`,
			`[{"type":"Frozen","text":"y"}]`,
			[]string{`declarative.entries[0]: Invalid value: null: field is immutable`}},
		{"a bad union stays", "declarative.union", `{"first":"","second":["x"]}`, `{"first":"","second":["y"]}`, nil},
		{"the mode stays", "declarative.modal", `{"mode":"Queue"}`, `{"mode":"Queue"}`, nil},
		{"the mode changes", "declarative.modal", `{"mode":"Queue","queue":"x"}`, `{"mode":"Other","queue":"x"}`,
			[]string{`declarative.modal.queue: Forbidden`}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := check(t, operation.Update, with(t, test.at, test.now), with(t, test.at, test.old))
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}
