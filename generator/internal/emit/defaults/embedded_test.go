package defaults

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// TestEmbeddedPointer checks that the server sets the defaults of the fields that a kind has by an embedded pointer,
// also where that is nil: in a schema these are fields like all others.
func TestEmbeddedPointer(t *testing.T) {
	pkg := &model.Package{Path: "example.com/shop/v1", Name: "v1"}
	embed := func(of *model.Type) *model.Field {
		return &model.Field{Name: of.Name, Type: &model.Type{Form: model.Pointer, Elem: of}, Embedded: true,
			Inline: true, Exported: true}
	}
	structure := func(name string, fields ...*model.Field) *model.Type {
		return &model.Type{Name: name, Package: pkg, Form: model.Struct, Fields: fields}
	}
	color := &model.Field{Name: "Color", JSON: "color", Exported: true, Type: words,
		Default: &model.Default{JSON: `"red"`}}
	paint := structure("Paint", color)
	coat := structure("Coat", embed(paint))
	knot := structure("Knot", color)
	knot.Fields = append(knot.Fields, embed(knot))
	holder := structure("Holder", &model.Field{Name: "Paint", JSON: "paint", Exported: true,
		Type: &model.Type{Form: model.Pointer, Elem: paint}})
	for _, test := range []struct {
		outer *model.Type
		want  string
	}{
		{coat, "in.Field.Paint = new(Paint)"}, {structure("Direct", embed(paint)), "if in.Field.Paint == nil"},
		{structure("Deep", embed(coat)), "in.Field.Coat.Paint = new(Paint)"}, {holder, ""}, {knot, ""},
		{structure("Plain", embed(structure("None"))), ""},
	} {
		p := withField(test.outer, nil)
		p.RuntimeAvailable = true
		p.Packages[0].HasGroup, p.Packages[0].Version = true, "v1"
		files, err := Emitter().Emit(plan.New(p))
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %d files, %v", test.outer.Name, len(files), err)
		}
		text := string(files[0].Content)
		if test.want == "" && strings.Contains(text, "new(") || !strings.Contains(text, test.want) {
			t.Errorf("%s: %q is not in\n%s", test.outer.Name, test.want, text)
		}
	}
}
