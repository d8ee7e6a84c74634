package model_test

import (
	"testing"

	"apigen.dev/generator/internal/model"
)

// TestProperty finds fields as encoding/json does: a struct's own before those of inlined structs, and none of an
// embedded struct that has a name of its own.
func TestProperty(t *testing.T) {
	text := &model.Type{Form: model.Basic, Basic: "string"}
	deep := &model.Field{Name: "Deep", JSON: "deep", Type: text}
	hidden := &model.Field{Name: "Color", JSON: "color", Type: text}
	inlined := &model.Type{Name: "Inlined", Form: model.Struct, Fields: []*model.Field{hidden, deep}}
	named := &model.Type{Name: "Meta", Form: model.Struct, Fields: []*model.Field{{Name: "ID", JSON: "id", Type: text}}}
	color := &model.Field{Name: "Color", JSON: "color", Type: text}
	through := &model.Field{Name: "Inlined", Embedded: true, Inline: true,
		Type: &model.Type{Form: model.Pointer, Elem: inlined}}
	lamp := &model.Type{Name: "Lamp", Form: model.Struct, Fields: []*model.Field{
		through, {Name: "Meta", JSON: "meta", Embedded: true, Type: named}, color,
	}}
	inlined.Fields = append(inlined.Fields, &model.Field{Name: "Lamp", Embedded: true, Inline: true, Type: lamp})
	if lamp.Property("color") != color || lamp.Property("id") != nil || lamp.Property("none") != nil {
		t.Error("the own field, and no other, has the name")
	}
	path := lamp.FieldPath(func(f *model.Field) bool { return f.JSON == "deep" })
	if len(path) != 2 || path[0] != through || path[1] != deep {
		t.Errorf("got a path of %d fields", len(path))
	}
}
