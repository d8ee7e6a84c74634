package defaults

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

var (
	words   = &model.Type{Form: model.Basic, Basic: "string"}
	small   = &model.Type{Form: model.Basic, Basic: "int8"}
	octets  = &model.Type{Form: model.Slice, Elem: &model.Type{Form: model.Basic, Basic: "byte"}}
	numbers = &model.Type{Form: model.Map, Key: small, Elem: words}
	inner   = &model.Type{Name: "Inner", Form: model.Struct, Fields: []*model.Field{
		{Name: "Name", JSON: "name", Exported: true, Type: words},
		{Name: "Size", JSON: "size", Exported: true, Type: &model.Type{Form: model.Pointer, Elem: small}},
	}}
)

// emitField emits a package with a kind whose one field has the type and the default.
func emitField(t *model.Type, d *model.Default) ([]string, error) {
	var contents []string
	files, err := Emitter().Emit(plan.New(withField(t, d)))
	for _, file := range files {
		contents = append(contents, string(file.Content))
	}
	return contents, err
}

// withField is a program of a package with a kind whose one field has the type and the default.
func withField(t *model.Type, d *model.Default) *model.Program {
	if d != nil {
		d.Pos = model.Position{Filename: "types.go", Line: 7, Column: 5}
	}
	meta := &model.Type{Name: "TypeMeta", Form: model.Struct}
	pkg := &model.Package{Path: "example.com/shop/v1", Name: "v1", Output: true,
		PackageDefaulting: model.PackageDefaulting{Defaulter: true}}
	pkg.Types = []*model.Type{{Name: "Widget", Package: pkg, Form: model.Struct, Fields: []*model.Field{
		{Name: "TypeMeta", Type: meta, Embedded: true, Inline: true, Exported: true},
		{Name: "Field", JSON: "field", Type: t, Exported: true, Default: d},
	}}}
	return &model.Program{Packages: []*model.Package{pkg}}
}

func TestDefaultsThatDoNotFit(t *testing.T) {
	tests := []struct {
		name string
		typ  *model.Type
		json string
		want string
	}{
		{"text for a number", small, `"five"`, `the default "five" is no int8`},
		{"number for text", words, `5`, "the default 5 is no string"},
		{"too large", small, `200`, "the default 200 is no int8"},
		{"fraction", small, `1.5`, "is no int8"},
		{"behind a pointer", &model.Type{Form: model.Pointer, Elem: small}, `true`, "is no int8"},
		{"no JSON", words, `red`, "the default red is not JSON"},
		{"two values", words, `"a" "b"`, "is more than one JSON value"},
		{"empty", words, ``, "is not JSON"},
		{"object for a list", &model.Type{Form: model.Slice, Elem: words}, `{}`, "is no list"},
		{"wrong element", &model.Type{Form: model.Slice, Elem: words}, `["a", 1]`, "is no string"},
		{"no base64", octets, `"%"`, "is not base64"},
		{"list for a map", numbers, `[1]`, "is no map"},
		{"wrong key", numbers, `{"x": "y"}`, `has the key "x", which is no int8`},
		{"wrong value in a map", numbers, `{"1": 2}`, "is no string"},
		{"text for a struct", inner, `"x"`, "is no object"},
		{"unknown field", &model.Type{Form: model.Pointer, Elem: inner}, `{"nme": "x"}`,
			`sets "nme", which Inner does not have`},
		{"wrong field", inner, `{"Size": 1000}`, "is no int8 (in Size)"},
		{"interface with methods", &model.Type{Name: "I", Form: model.Interface, InterfaceMethods: []string{"Do"}},
			`{"a": 1}`, "write a SetDefaults_ function"},
		{"func", &model.Type{Form: model.Func_}, `1`, "write a SetDefaults_ function"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := emitField(test.typ, &model.Default{JSON: test.json})
			if err == nil || !strings.HasPrefix(err.Error(), "types.go:7:5: ") ||
				!strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestReferencesThatDoNotFit(t *testing.T) {
	if _, err := emitField(inner, &model.Default{Ref: &model.Ref{Path: "example.com/x", Name: "Const"}}); err == nil ||
		!strings.Contains(err.Error(), "ref(Const) is a constant, and the field is not of a basic type") {
		t.Errorf("got %v", err)
	}
	if _, err := emitField(words,
		&model.Default{Ref: &model.Ref{Path: "example.com/shop/v1", Name: "Const"}}); err == nil ||
		!strings.Contains(err.Error(), "ref(Const) names no constant of package example.com/shop/v1") {
		t.Errorf("got %v", err)
	}
}

// A default that is the zero value anyway asks for nothing.
func TestNothingToDo(t *testing.T) {
	for _, d := range []string{`""`, "null"} {
		got, err := emitField(words, &model.Default{JSON: d})
		if err != nil || len(got) != 1 || strings.Contains(got[0], "SetObjectDefaults_") {
			t.Errorf("%s: got %s, %v", d, got, err)
		}
	}
	if got, err := emitField(inner, &model.Default{JSON: "{}"}); err != nil ||
		strings.Contains(got[0], "SetObjectDefaults_") {
		t.Errorf("got %s, %v", got, err)
	}
}

// Whatever stands in a marker, the emitter answers with an error or with Go.
func FuzzDefault(f *testing.F) {
	for _, seed := range []string{
		`"a"`, `{"name": "x", "size": 3}`, `[1, 2]`, "true", "-1e3", "{", `{"1": "a"}`, "\x00", "`",
	} {
		f.Add(seed)
	}
	types := []*model.Type{words, small, octets, numbers, inner, {Form: model.Pointer, Elem: inner},
		{Form: model.Array, Len: 2, Elem: small},
		{Form: model.Interface}, {Form: model.Basic, Basic: "float32"}, {Form: model.Basic, Basic: "bool"}}
	f.Fuzz(func(t *testing.T, value string) {
		for _, typ := range types {
			// Emitting parses what it wrote, and tells when that is no Go.
			if _, err := emitField(typ, &model.Default{JSON: value}); err != nil &&
				!strings.HasPrefix(err.Error(), "types.go:7:5: ") {
				t.Errorf("%q: %v", value, err)
			}
		}
	})
}
