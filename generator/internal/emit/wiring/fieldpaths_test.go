package wiring

import (
	"reflect"
	"testing"

	"apigen.dev/generator/internal/model"
)

// TestNullablePaths: a field is found in each struct that embeds its struct, and once in a type that stands in several
// places, or that has itself.
func TestNullablePaths(t *testing.T) {
	text := &model.Type{Form: model.Basic, Basic: "string"}
	field := func(name string, of *model.Type) *model.Field {
		presence := model.Presence{Nullable: name == "note"}
		return &model.Field{JSON: name, Type: of, Schema: model.Schema{Presence: presence}}
	}
	embedded := func(of *model.Type) *model.Field { return &model.Field{Inline: true, Embedded: true, Type: of} }
	common := &model.Type{Form: model.Struct, Fields: []*model.Field{field("note", text)}}
	common.Fields = append(common.Fields, embedded(&model.Type{Form: model.Pointer, Elem: common}))
	door := &model.Type{Form: model.Struct, Fields: []*model.Field{embedded(common)}}
	door.Fields = append(door.Fields, field("inner", &model.Type{Form: model.Pointer, Elem: door}))
	kind := &model.Type{Form: model.Struct, Fields: []*model.Field{
		embedded(common), field("door", door), field("doors", &model.Type{Form: model.Slice, Elem: door}),
		field("named", &model.Type{Form: model.Map, Elem: common}), {Ignored: true, Type: common},
	}}
	if got, want := nullablePaths(kind), []string{"note", "door.note", "named[*].note"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
