package document

import (
	"encoding/json"
	"slices"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// optional makes a field one that may be left out.
func optional(f *model.Field) *model.Field { f.OmitEmpty = true; return f }

// with puts constraints on a field.
func with(f *model.Field, s model.Schema) *model.Field { f.Schema = s; return f }

func TestProperty(t *testing.T) {
	p := sample()
	pkg := p.Packages[0]
	local := func(name string, form model.Form) *model.Type {
		return &model.Type{Name: name, Package: pkg, Form: form}
	}
	mode := local("Mode", model.Basic)
	mode.Basic, mode.Enum = "string", true
	pkg.Consts = []*model.Const{{Name: "Slow", Type: mode, Value: `"slow"`, Doc: "Slow takes\nits time."},
		{Name: "Fast", Type: mode, Value: `"fast"`}}
	part := local("Part", model.Struct)
	forest := local("Forest", model.Map)
	forest.Key, forest.Elem = predeclared("string"), forest
	port := local("Port", model.Basic)
	port.Basic, port.Schema = "int32", model.Schema{Bounds: model.Bounds{Limits: map[model.Check]float64{
		model.Minimum: 1, model.Maximum: 65535}}}
	custom := local("Custom", model.Struct)
	custom.Methods = map[string]*model.Func{"MarshalJSON": {Name: "MarshalJSON"}}
	custom.Schema.Type = "string"
	steps := local("Steps", model.Struct)
	steps.SchemaType = "array"
	docs := func(f *model.Field, doc string) *model.Field { f.Doc = doc; return f }
	byDefault := func(f *model.Field, d model.Default) *model.Field { f.Default = &d; return f }
	const ref = `{"$ref":"#/components/schemas/com.example.shop.apis.shop.v1.`
	const metaRef = `{"$ref":"#/components/schemas/io.k8s.apimachinery.pkg.`

	for _, test := range []struct {
		name  string
		field *model.Field
		want  string
	}{
		{"string", docs(field("x", predeclared("string")), "What it is.\n+optional"),
			`{"default":"","description":"What it is.","type":"string"}`},
		{"optional integer", optional(field("x", predeclared("int"))), `{"format":"int32","type":"integer"}`},
		{"pointer", field("x", pointerTo(predeclared("int64"))), `{"format":"int64","type":"integer"}`},
		{"bytes", field("x", sliceOf(predeclared("uint8"))), `{"format":"byte","type":"string"}`},
		{"a list that a method names", field("x", steps),
			`{"items":{"x-kubernetes-preserve-unknown-fields":true},"type":"array"}`},
		{"a list of lists that a method names", field("x", sliceOf(steps)),
			`{"items":{"items":{"x-kubernetes-preserve-unknown-fields":true},"type":"array"},"type":"array"}`},
		{"a list that a marker names", with(field("x", part), model.Schema{WireForm: model.WireForm{Type: "array"}}),
			`{"items":{"x-kubernetes-preserve-unknown-fields":true},"type":"array"}`},
		{"float", field("x", predeclared("float32")), `{"default":0,"format":"float","type":"number"}`},
		{"struct", field("x", part), `{"allOf":[` + ref + `Part"}],"default":{}}`},
		{"pointer to struct", field("x", pointerTo(part)), ref + `Part"}`},
		{"list of structs", with(field("x", sliceOf(part)),
			model.Schema{Merging: model.Merging{ListType: "map", ListMapKeys: []string{"name"}}}), `{"items":` + ref +
			`Part"},"type":"array","x-kubernetes-list-map-keys":["name"],"x-kubernetes-list-type":"map"}`},
		{"map", field("x", mapOf(predeclared("bool"))), `{"additionalProperties":{"type":"boolean"},"type":"object"}`},
		{"map that holds itself", field("x", forest), `{"additionalProperties":` + ref + `Forest"},"type":"object"}`},
		{"anything", field("x", &model.Type{Form: model.Interface}), `{"x-kubernetes-preserve-unknown-fields":true}`},
		{"enumeration", docs(optional(field("x", mode)), "How."),
			`{"description":"How.\n\nPossible enum values:\n - ` + "`\\\"fast\\\"`" + `\n - ` + "`\\\"slow\\\"`" +
				` Slow takes its time.","enum":["fast","slow"],"type":"string"}`},
		{"type with bounds", optional(field("x", port)),
			`{"format":"int32","maximum":65535,"minimum":1,"type":"integer"}`},
		{"custom JSON", field("x", custom), ref + `Custom"}`},
		{"time", field("x", meta1("Time")), metaRef + `apis.meta.v1.Time"}`},
		{"quantity", docs(field("x", named(schema.ResourcePath, "resource", "Quantity", model.Struct)), "How much."),
			`{"allOf":[` + metaRef + `api.resource.Quantity"}],"description":"How much."}`},
		{"int or string", field("x", pointerTo(named(schema.IntstrPath, "intstr", "IntOrString", model.Struct))),
			metaRef + `util.intstr.IntOrString"}`},
		{"marked int or string", with(field("x", predeclared("string")),
			model.Schema{WireForm: model.WireForm{IntOrString: true},
				Presence: model.Presence{Optional: true}}),
			`{"anyOf":[{"type":"integer"},{"type":"string"}],"default":"","x-kubernetes-int-or-string":true}`},
		{"preserve", with(optional(field("x", pointerTo(part))),
			model.Schema{WireForm: model.WireForm{PreserveUnknownFields: true},
				Presence: model.Presence{Nullable: true}}), `{"allOf":[` + ref +
			`Part"}],"nullable":true,"x-kubernetes-preserve-unknown-fields":true}`},
		{"limits", with(optional(field("x", predeclared("string"))),
			model.Schema{Bounds: model.Bounds{Limits: map[model.Check]float64{model.MinLength: 1}, Pattern: "^a$",
				Enum: []string{`"a"`, "b"}}}), `{"enum":["a","b"],"minLength":1,"pattern":"^a$","type":"string"}`},
		{"rules", with(optional(field("x", predeclared("string"))),
			model.Schema{Constraints: model.Constraints{CEL: []model.CELRule{{Rule: "self != ''",
				Message: "say something"}}}}),
			`{"type":"string","x-kubernetes-validations":[{"message":"say something","rule":"self != ''"}]}`},
		{"default", byDefault(optional(field("x", pointerTo(predeclared("int32")))),
			model.Default{JSON: "10000000000000001"}),
			`{"default":10000000000000001,"format":"int32","type":"integer"}`},
		{"default by constant", byDefault(field("x", predeclared("string")),
			model.Default{Ref: &model.Ref{Path: pkg.Path, Name: "Slow"},
				JSON: `"slow"`}), `{"default":"slow","type":"string"}`},
		{"patch tags", &model.Field{Name: "X", JSON: "x", OmitEmpty: true, Type: sliceOf(predeclared("string")),
			Schema: model.Schema{Merging: model.Merging{PatchStrategy: "merge",
				PatchMergeKey: "name"}}}, `{"items":{"type":"string"},"type":"array",` +
			`"x-kubernetes-patch-merge-key":"name","x-kubernetes-patch-strategy":"merge"}`},
		{"struct without a name", field("x",
			&model.Type{Form: model.Struct,
				Fields: []*model.Field{field("y",
					predeclared("string"))}}), `{"default":{},"properties":{"y":{"default":"","type":"string"}},` +
			`"required":["y"],"type":"object"}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			b := sampleBuilder(p)
			b.writesZeros = true
			got, err := json.Marshal(b.property(b.types.Field(test.field)))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			b.components() // must end
		})
	}
}

func TestRequired(t *testing.T) {
	fields := []*model.Field{
		field("plain", predeclared("string")),
		optional(field("empty", predeclared("string"))),
		with(field("marked", predeclared("string")), model.Schema{Presence: model.Presence{Optional: true}}),
		with(optional(field("must", predeclared("string"))), model.Schema{Presence: model.Presence{Required: true}}),
		with(field("both", predeclared("string")),
			model.Schema{Presence: model.Presence{Required: true, Optional: true}}),
	}
	b := sampleBuilder(sample())
	s := b.structure(b.types.Type(&model.Type{Form: model.Struct, Fields: fields}))
	if got, _ := json.Marshal(s["required"]); string(got) != `["plain","must"]` {
		t.Errorf("required: %s", got)
	}
}

// TestInlinedRules: rules of a struct apply once to each struct that inlines it, directly or indirectly.
func TestInlinedRules(t *testing.T) {
	ruled := func(name, rule string, fields ...*model.Field) *model.Type {
		inner := named("example.com/shop/apis/shop/v1", "v1", name, model.Struct)
		inner.Fields, inner.Schema.CEL = fields, []model.CELRule{{Rule: rule}}
		return inner
	}
	inline := func(inner *model.Type) *model.Field {
		return &model.Field{Name: inner.Name, Type: inner, Embedded: true, Inline: true, Exported: true}
	}
	deep := ruled("Deep", "deep", field("d", predeclared("string")))
	outer := ruled("Outer", "outer", inline(ruled("Near", "near", inline(deep))), inline(deep),
		field("o", predeclared("string")))
	s := sampleBuilder(sample(field("x", outer))).component(outer)
	var got []string
	for _, rule := range s["x-kubernetes-validations"].([]any) {
		got = append(got, rule.(object)["rule"].(string))
	}
	if !slices.Equal(got, []string{"deep", "near", "outer"}) {
		t.Errorf("%q", got)
	}
}

// TestMarkedType: a marker for the type of a struct's JSON counts, also where all of its fields have tags.
func TestMarkedType(t *testing.T) {
	token := named("example.com/shop/apis/shop/v1", "v1", "Token", model.Struct)
	token.Fields = []*model.Field{{Name: "ID", JSON: "-", Tag: `json:"-"`, Type: predeclared("string"), Exported: true,
		Ignored: true}}
	token.Methods = map[string]*model.Func{"MarshalJSON": {Name: "MarshalJSON"}}
	token.Schema.Type = "string"
	if got, _ := json.Marshal(sampleBuilder(sample()).component(token)); string(got) != `{"type":"string"}` {
		t.Errorf("%s", got)
	}
}
