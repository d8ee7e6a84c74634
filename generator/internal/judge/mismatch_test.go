package judge

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
)

var (
	words   = basic("string")
	small   = basic("int8")
	octets  = listOf(basic("byte"))
	numbers = &model.Type{Form: model.Map, Key: small, Elem: words}
	inner   = &model.Type{Name: "Inner", Form: model.Struct, Fields: []*model.Field{
		{Name: "Name", JSON: "name", Exported: true, Type: words},
		{Name: "Size", JSON: "size", Exported: true, Type: pointerTo(small)},
	}}
	parameter = &model.Type{Name: "T", Form: model.TypeParam}
)

func pointerTo(t *model.Type) *model.Type { return &model.Type{Form: model.Pointer, Elem: t} }

func listOf(t *model.Type) *model.Type { return &model.Type{Form: model.Slice, Elem: t} }

// judged returns what is found about a field of that type with that default. A default that is refused is left out.
func judged(t *testing.T, typ *model.Type, d model.Default) string {
	t.Helper()
	d.Pos = at(7)
	f := with("Field", typ)
	f.Default = &d
	p := lamp(f)
	findings := Program(p, p.Packages[0].Types)
	if len(findings) > 1 || len(findings) == 1 && findings[0].Pos != at(7) {
		t.Fatalf("found %v", findings)
	}
	LeaveOut(findings)
	if (f.Default == nil) != (len(findings) == 1) {
		t.Errorf("after %v, the default is %v", findings, f.Default)
	}
	if len(findings) == 0 {
		return ""
	}
	return findings[0].Message
}

func TestDefaultsThatDoNotFit(t *testing.T) {
	for _, test := range []struct {
		name string
		typ  *model.Type
		json string
		want string
	}{
		{"text for a number", small, `"five"`, `the default "five" is no int8`},
		{"number for text", words, `5`, "the default 5 is no string"},
		{"too large", small, `200`, "the default 200 is no int8"},
		{"fraction", small, `1.5`, "is no int8"},
		{"behind a pointer", pointerTo(small), `true`, "is no int8"},
		{"no JSON", words, `red`, "the default red is not JSON"},
		{"two values", words, `"a" "b"`, "is more than one JSON value"},
		{"empty", words, ``, "is not JSON"},
		{"object for a list", listOf(words), `{}`, "is no list"},
		{"wrong element", listOf(words), `["a", 1]`, "is no string"},
		{"no base64", octets, `"%"`, "is not base64"},
		{"list for a map", numbers, `[1]`, "is no map"},
		{"wrong key", numbers, `{"x": "y"}`, `has the key "x", which is no int8`},
		{"wrong value in a map", numbers, `{"1": 2}`, "is no string"},
		{"text for a struct", inner, `"x"`, "is no object"},
		{"unknown field", pointerTo(inner), `{"nme": "x"}`,
			`sets "nme", which Inner does not have`},
		{"wrong field", inner, `{"Size": 1000}`, "is no int8 (in Size)"},
		{"interface with methods", &model.Type{Name: "I", Form: model.Interface, InterfaceMethods: []string{"Do"}},
			`{"a": 1}`, "write a SetDefaults_ function"},
		{"func", &model.Type{Form: model.Func_}, `1`, "write a SetDefaults_ function"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := judged(t, test.typ, model.Default{JSON: test.json}); !strings.Contains(got, test.want) {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestDefaultsThatFit judges a type parameter's default for each of its instances.
func TestDefaultsThatFit(t *testing.T) {
	for json, typ := range map[string]*model.Type{
		`5`: small, `"five"`: pointerTo(words), `"AAEC"`: octets, `{"1": "a"}`: numbers, `{"Name": "a"}`: inner,
		`["a"]`: listOf(parameter), `{"any": 1}`: parameter, `null`: words,
	} {
		if got := judged(t, typ, model.Default{JSON: json}); got != "" {
			t.Errorf("%s: got %s", json, got)
		}
	}
}

func TestReferencesThatDoNotFit(t *testing.T) {
	for want, test := range map[string]struct {
		typ *model.Type
		def model.Default
	}{
		"ref(Const) is a constant, and the field is not of a basic type": {
			inner, model.Default{Ref: &model.Ref{Path: "example.com/x", Name: "Const"}},
		},
		"ref(Const) names no constant of package example.com/shop/v1": {
			words, model.Default{Ref: &model.Ref{Path: "example.com/shop/v1", Name: "Const"}},
		},
		"ref(Const), which is 5, is no string": {
			words, model.Default{Ref: &model.Ref{Path: "example.com/shop/v1", Name: "Const"}, JSON: "5"},
		},
		"ref(Other) names no constant": {
			parameter, model.Default{Ref: &model.Ref{Path: "example.com/shop/v1", Name: "Other"}},
		},
	} {
		if got := judged(t, test.typ, test.def); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestDefaultOfEmbedded: a default can't set a field of an embedded struct that has a name on the wire.
func TestDefaultOfEmbedded(t *testing.T) {
	meta := &model.Type{Name: "Meta", Form: model.Struct, Fields: []*model.Field{{Name: "ID", JSON: "id", Type: words}}}
	holder := &model.Type{Name: "Holder", Form: model.Struct, Fields: []*model.Field{
		{Name: "Meta", JSON: "meta", Embedded: true, Type: meta},
	}}
	if got := judged(t, holder, model.Default{JSON: `{"id": "x"}`}); !strings.Contains(got, `sets "id"`) {
		t.Errorf("got %s", got)
	}
}
