package marker

import (
	"testing"

	"apigen.dev/generator/internal/model"
)

// TestDefaultsInBraces reads values in controller-gen's grammar as controller-gen reads them.
func TestDefaultsInBraces(t *testing.T) {
	structs := &model.Type{Form: model.Slice, Elem: &model.Type{Form: model.Struct, Name: "Condition"}}
	text := &model.Type{Form: model.Basic, Basic: "string"}
	for _, c := range []struct {
		in   string
		t    *model.Type
		want string
	}{
		{`{{type: "Accepted", reason:"Pending", at: "1970-01-01T00:00:00Z"},{type: Programmed}}`, structs,
			`[{"type":"Accepted","reason":"Pending","at":"1970-01-01T00:00:00Z"},{"type":"Programmed"}]`},
		{`{conditions: {{type: "Accepted", n: 3},{type: "B"}}}`, &model.Type{Form: model.Struct},
			`{"conditions":[{"type":"Accepted","n":3},{"type":"B"}]}`},
		{`{{path:{ type: "PathPrefix", value: "/"}}}`, structs, `[{"path":{"type":"PathPrefix","value":"/"}}]`},
		{`{namespaces:{from: Same}}`, &model.Type{Form: model.Struct}, `{"namespaces":{"from":"Same"}}`},
		{`{"a, b",c:d}`, &model.Type{Form: model.Slice, Elem: text}, `["a, b","c:d"]`},
		{`{'k:ey': "a:b", url: "http://x:1/{y}"}`, &model.Type{Form: model.Map, Key: text, Elem: text},
			`{"k:ey":"a:b","url":"http://x:1/{y}"}`},
		{`a;b`, &model.Type{Form: model.Slice, Elem: text}, `["a","b"]`},
		{`{}`, &model.Type{Form: model.Struct}, `{}`},
		{`{}`, structs, `[]`},
		{`{ }`, &model.Type{Form: model.Pointer, Elem: structs}, `[]`},
		{`{`, &model.Type{Form: model.Struct}, `"{"`},
		{`{a:}`, &model.Type{Form: model.Map, Key: text, Elem: text}, `{"a":""}`},
	} {
		if got := jsonValue(c.in, c.t); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
}

func TestJSONValue(t *testing.T) {
	for in, want := range map[string]string{
		"5": "5", `"a"`: `"a"`, "word": `"word"`, "'q'": `"q"`, "`b`": `"b"`, "{}": "{}", `{"a":1}`: `{"a":1}`,
		"{a,b}": `["a","b"]`, "{a: 1, b: x}": `{"a":1,"b":"x"}`, "true": "true", "a;b": `["a","b"]`, "1.5": "1.5",
	} {
		if got := jsonValue(in, nil); got != want {
			t.Errorf("%s is %s, want %s", in, got, want)
		}
	}
}
