package schema_test

import (
	"slices"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

var home = &model.Package{Path: "example.com/shop/v1", Name: "v1"}

func basic(name string) *model.Type      { return &model.Type{Form: model.Basic, Basic: name} }
func list(of *model.Type) *model.Type    { return &model.Type{Form: model.Slice, Elem: of} }
func pointer(to *model.Type) *model.Type { return &model.Type{Form: model.Pointer, Elem: to} }
func methods(names ...string) map[string]*model.Func {
	out := map[string]*model.Func{}
	for _, name := range names {
		out[name] = &model.Func{Name: name}
	}
	return out
}

// named gives a type a name in the home package, or in the package that the name begins with.
func named(name string, t *model.Type) *model.Type {
	t.Name, t.Package = name, home
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		t.Package, t.Name = &model.Package{Path: name[:i]}, name[i+1:]
	}
	return t
}

func structure(name string, fields ...*model.Field) *model.Type {
	return named(name, &model.Type{Form: model.Struct, Fields: fields})
}

func field(json string, t *model.Type) *model.Field {
	return &model.Field{Name: strings.ToUpper(json), JSON: json, Type: t, Exported: true}
}

func inline(t *model.Type) *model.Field {
	return &model.Field{Name: t.Name, Type: t, Embedded: true, Inline: true, Exported: true}
}

// tree is the printed tree of a type, without its own line's name.
func tree(d *schema.Dialect, t *model.Type) string { return schema.New(d).Type(t).Print() }

// TestForms holds the form of single types in each dialect.
func TestForms(t *testing.T) {
	dialects := []*schema.Dialect{schema.OpenAPI, schema.CRD, schema.CEL, schema.Wire, schema.Reference}
	own := "example.com/shop/v1.X"
	marked := func(t *model.Type, typ string) *model.Type { t.Schema.Type = typ; return t }
	for _, test := range []struct {
		name string
		typ  *model.Type
		// want are the forms in OpenAPI, CRD, CEL, Wire and Reference; the last one stands for all that are left.
		want []string
	}{
		{"string", basic("string"), []string{"string"}},
		{"bool", basic("bool"), []string{"boolean"}},
		{"int", basic("int"), []string{"integer int32 64", "integer 64"}},
		{"int16", basic("int16"), []string{"integer int32 32", "integer 32"}},
		{"int32", basic("int32"), []string{"integer int32 32", "integer int32 32", "integer 32"}},
		{"uint32", basic("uint32"), []string{"integer int64 64", "integer int64 64", "integer 64"}},
		{"int64", basic("int64"), []string{"integer int64 64", "integer int64 64", "integer 64"}},
		{"float32", basic("float32"), []string{"number float", "number", "number", "number float", "number"}},
		{"pointer", pointer(pointer(basic("bool"))), []string{"boolean"}},
		{"interface", &model.Type{Form: model.Interface}, []string{"any"}},
		{"bytes", list(basic("uint8")), []string{"string byte"}},
		{"named bytes", list(named("X", basic("byte"))), []string{"string byte", "array", "string byte"}},
		{"array of bytes", &model.Type{Form: model.Array, Elem: basic("byte"), Len: 4}, []string{"array"}},
		{"time", structure(schema.MetaPath + ".Time"), []string{"string date-time v1.Time"}},
		{"time of Go", structure("time.Time"), []string{"string date-time time.Time"}},
		{"quantity", structure(schema.ResourcePath + ".Quantity"), []string{
			"quantity resource.Quantity", "int-or-string resource.Quantity", "int-or-string resource.Quantity",
			"quantity resource.Quantity"}},
		{"int or string", structure(schema.IntstrPath + ".IntOrString"), []string{"int-or-string intstr.IntOrString"}},
		{"raw extension", structure(schema.RuntimePath + ".RawExtension"), []string{
			"object runtime.RawExtension", "object runtime.RawExtension", "object runtime.RawExtension",
			"any runtime.RawExtension", "object runtime.RawExtension"}},
		{"raw JSON", named("encoding/json.RawMessage", list(basic("byte"))), []string{
			"any json.RawMessage", "any json.RawMessage", "any json.RawMessage"}},
		{"any JSON", structure("k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1.JSON"), []string{
			"any v1.JSON"}},
		{"schema methods", named("X", &model.Type{Form: model.Struct, SchemaType: "string", SchemaFormat: "ip"}),
			[]string{
				"string ip", "object", "string ip"}},
		{"own JSON", named("X", &model.Type{Form: model.Struct, Methods: methods("MarshalJSON")}), []string{
			"any", "object", "any", own, "object"}},
		{"own JSON with a marker", marked(named("X", &model.Type{Form: model.Struct,
			Methods: methods("MarshalJSON")}), "string"), []string{
			"string", "string", "string", own, "object"}},
		{"marker that says the same", marked(structure("X"), "object"), []string{"object"}},
		{"own text", named("X", &model.Type{Form: model.Struct, Methods: methods("MarshalText")}), []string{
			"string"}},
		{"own text by embedding", structure("X", inline(named("Y", &model.Type{Form: model.Struct,
			Methods: methods("MarshalText")}))), []string{
			"string"}},
		{"a number with own text", named("X", &model.Type{Form: model.Basic, Basic: "int32",
			Methods: methods("MarshalText")}), []string{"string"}},
		{"a time by embedding", structure("X", inline(named(schema.MetaPath+".Time", &model.Type{Form: model.Struct,
			Methods: methods("MarshalJSON", "MarshalText")}))), []string{"string date-time"}},
	} {
		for i, d := range dialects {
			want := test.want[min(i, len(test.want)-1)]
			line, _, _ := strings.Cut(tree(d, test.typ), "\n")
			if _, got, _ := strings.Cut(line, ": "); got != want {
				t.Errorf("%s in dialect %d: %s, want %s", test.name, i, got, want)
			}
		}
	}
}

// TestTree holds trees built from literals of the model.
func TestTree(t *testing.T) {
	port := named("Port", basic("int32"))
	port.Schema.SetLimit(model.Minimum, 1)
	door := named("Door", basic("int32"))
	door.Of = port
	door.Schema.SetLimit(model.Maximum, 9)
	forest := named("Forest", &model.Type{Form: model.Map, Key: basic("string")})
	forest.Elem = forest
	inner := structure("Inner", field("a", basic("bool")), field("b", basic("bool")))
	inner.Schema.CEL = []model.CELRule{{Rule: "self.a"}}
	words := field("words", list(basic("string")))
	words.Schema.Items = &model.Schema{Bounds: model.Bounds{Limits: map[model.Check]float64{model.MaxLength: 3}}}
	doors := field("door", pointer(door))
	doors.OmitEmpty, doors.Default, doors.Schema.Title = true, &model.Default{JSON: "7"}, "Door"
	for _, test := range []struct {
		name string
		typ  *model.Type
		want string
	}{
		{"layers", structure("X", doors), `
X: object
  door: integer int32 32 default=7 door{"title":"Door"} Door{"maximum":9} Port{"minimum":1}
`},
		{"elements", structure("X", words), `
X: object
  words: array required
    *: string *{"maxLength":3}
`},
		{"a type in itself", structure("X", field("f", forest)), `
X: object
  f: map required
    *: map
`},
		{"inlined, the nearer field counts", structure("X", inline(inner), field("b", basic("string"))), `
X: object
  b: string required
  a: boolean required
`},
		{"ignored", structure("X", &model.Field{Name: "c", Ignored: true, Type: basic("string")}), `
X: object
`},
	} {
		if got := tree(schema.OpenAPI, test.typ); got != strings.TrimPrefix(test.want, "\n") {
			t.Errorf("%s:\n%swant%s", test.name, got, test.want)
		}
	}
}

// TestInlines: structs that a struct inlines are found by whichever way, once, the innermost first, and their
// properties stand where the source has them.
func TestInlines(t *testing.T) {
	deep := structure("Deep", field("d", basic("string")))
	near := structure("Near", inline(deep), field("n", basic("string")))
	outer := schema.New(schema.OpenAPI).Type(structure("Outer", inline(near), inline(deep),
		field("o", basic("string"))))
	var inlined, properties []string
	for _, f := range outer.Inlines() {
		inlined = append(inlined, f.Inlined().Go.Name+" in "+f.Owner.Go.Name)
	}
	for _, p := range outer.InSourceOrder() {
		properties = append(properties, p.Go.JSON)
	}
	if want := []string{"Deep in Near", "Near in Outer"}; !slices.Equal(inlined, want) {
		t.Errorf("inlined %q, want %q", inlined, want)
	}
	if want := []string{"d", "n", "o"}; !slices.Equal(properties, want) {
		t.Errorf("properties %q, want %q", properties, want)
	}
}

// TestRequired holds the one definition of a required field, and its differences in the dialects.
func TestRequired(t *testing.T) {
	rule := func(marker string) []model.Rule { return []model.Rule{{Check: model.Required, Marker: marker}} }
	byDefault := &model.Default{JSON: "1"}
	for _, test := range []struct {
		name  string
		field model.Field
		// in are the dialects in which the field is required: OpenAPI (CEL is the same), CRD, Wire, Reference.
		in string
	}{
		{"plain", model.Field{}, "OCWR"},
		{"omitempty", model.Field{OmitEmpty: true}, ""},
		{"marked optional", model.Field{Schema: model.Schema{Presence: model.Presence{Optional: true}}}, ""},
		{"marked required", model.Field{OmitEmpty: true, Schema: model.Schema{
			Presence: model.Presence{Required: true}, Constraints: model.Constraints{Rules: rule("required")}}},
			"OCWR"},
		{"package marked required", model.Field{OmitEmpty: true,
			Schema: model.Schema{Presence: model.Presence{Required: true}}}, "OWR"},
		{"controller-gen's marker beside optional", model.Field{
			Schema: model.Schema{Presence: model.Presence{Optional: true, Required: true},
				Constraints: model.Constraints{Rules: rule("kubebuilder:validation:Required")}}}, "C"},
		{"default", model.Field{Default: byDefault}, "OC"},
		{"default, marked required", model.Field{Default: byDefault, Schema: model.Schema{
			Presence: model.Presence{Required: true}, Constraints: model.Constraints{Rules: rule("required")}}}, "OCR"},
		{"struct", model.Field{Type: structure("X")}, "OCR"},
	} {
		if test.field.Type == nil {
			test.field.Type = basic("int32")
		}
		got := ""
		for i, d := range []*schema.Dialect{schema.OpenAPI, schema.CRD, schema.Wire, schema.Reference} {
			if schema.New(d).Field(&test.field).Required {
				got += "OCWR"[i : i+1]
			}
		}
		if got != test.in {
			t.Errorf("%s: required in %q, want %q", test.name, got, test.in)
		}
	}
}

// TestValue holds how layers of markers are merged.
func TestValue(t *testing.T) {
	low, high := 1.0, 5.0
	size := named("Size", basic("int64"))
	size.Schema.SetLimit(model.Minimum, high)
	size.Schema.Format, size.Schema.Enum = "far", []string{"1"}
	f := field("size", pointer(size))
	f.Schema.SetLimit(model.Minimum, low)
	f.Schema.Format, f.Schema.Nullable = "near", true
	v := schema.New(schema.Wire).Field(f).Value()
	if near, far := v.Layers[0], v.Layers[1]; near.Schema != &f.Schema || far.Type != size {
		t.Errorf("the layers are %+v and %+v", near, far)
	}
	least := v.Layers.Strictest(model.Minimum, true)
	nullable := v.Layers.Flag(func(s *model.Schema) bool { return s.Nullable })
	if *least != high || !nullable || v.Format != "near" || !slices.Equal(v.Layers.Enum(), []string{"1"}) {
		t.Errorf("minimum %v, nullable %v, format %s, enum %q", *least, nullable, v.Format, v.Layers.Enum())
	}
	f.Schema.Type = "string"
	if v = schema.New(schema.Wire).Field(f).Value(); v.JSON != schema.String || v.Type != nil || v.Bits != 0 {
		t.Errorf("a marker's form does not replace the type's: %+v", v.Form)
	}
}
