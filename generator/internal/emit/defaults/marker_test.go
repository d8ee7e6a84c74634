package defaults

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/judge"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

var (
	words   = &model.Type{Form: model.Basic, Basic: "string"}
	octets  = &model.Type{Form: model.Slice, Elem: &model.Type{Form: model.Basic, Basic: "byte"}}
	numbers = &model.Type{Form: model.Map, Key: small, Elem: words}
	small   = &model.Type{Form: model.Basic, Basic: "int8"}
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

// FuzzDefault: whatever stands in a marker, judges refuse it, or the emitter writes Go.
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
			p := withField(typ, &model.Default{JSON: value})
			judge.LeaveOut(judge.Program(p, p.Packages[0].Types))
			// Emitting parses what it wrote, and tells when that is not Go.
			if _, err := Emitter().Emit(plan.New(p)); err != nil {
				t.Errorf("%q: %v", value, err)
			}
		}
	})
}
