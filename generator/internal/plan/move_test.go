package plan

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/model"
)

func basic(name string) *model.Type { return &model.Type{Form: model.Basic, Basic: name} }
func pointerTo(t *model.Type) *model.Type {
	return &model.Type{Form: model.Pointer, Elem: t}
}
func sliceOf(t *model.Type) *model.Type { return &model.Type{Form: model.Slice, Elem: t} }
func mapOf(t *model.Type) *model.Type {
	return &model.Type{Form: model.Map, Key: basic("string"), Elem: t}
}

// spoke is a program of a hub and one version of it, whose structs Lamp have one field each.
func spoke(version, hub *model.Field) *model.Program {
	inner := &model.Package{Path: "example.com/shop", Name: "shop"}
	outer := &model.Package{Path: "example.com/shop/v1", Name: "v1", Output: true}
	outer.ConversionPeers, outer.Peers = []string{inner.Path}, []*model.Package{inner}
	for pkg, f := range map[*model.Package]*model.Field{inner: hub, outer: version} {
		lamp := &model.Type{Name: "Lamp", Package: pkg, Form: model.Struct}
		if f != nil {
			f.Exported = true
			lamp.Fields = []*model.Field{f}
		}
		bulb := &model.Type{Name: "Bulb", Package: pkg, Form: model.Struct, Fields: []*model.Field{
			{Name: "Watts", Type: basic("int32"), Exported: true},
			{Name: pkg.Name, Type: basic("bool"), ConversionOff: true},
		}}
		if f != nil && f.Type.Name == "Bulb" {
			f.Type = bulb
		}
		pkg.Types = []*model.Type{bulb, lamp}
	}
	return &model.Program{Packages: []*model.Package{inner, outer}}
}

// TestMoves: what becomes of a field depends on the types of the two fields and on their markers, in both directions.
func TestMoves(t *testing.T) {
	text, bulb := basic("string"), &model.Type{Name: "Bulb"}
	field := func(t *model.Type) *model.Field { return &model.Field{Name: "Color", Type: t} }
	renamed := func(t *model.Type) *model.Field {
		return &model.Field{Name: "Colour", Type: t, ConversionName: "Color"}
	}
	for name, c := range map[string]struct {
		version, hub *model.Field
		toHub, back  string
		faults       int
	}{
		"equal": {field(text), field(text),
			"the value as it lies in memory", "the value as it lies in memory", 0},
		"renamed":      {renamed(text), field(text), "Colour -> Color: assign", "Color -> Colour: assign", 0},
		"unknown name": {renamed(text), nil, "Colour: unknown name", "", 1},
		"missing":      {field(text), nil, "Color: missing", "", 1},
		"dropped": {&model.Field{Name: "Color", Type: text, ConversionOff: true}, nil,
			"Color: dropped", "", 0},
		"wider": {field(basic("int32")), field(basic("int64")),
			"Color -> Color: int64 of int32", "Color -> Color: int32 of int64, checked", 0},
		"pointer": {field(pointerTo(text)), field(text),
			"Color -> Color: from pointer: assign", "Color -> Color: to pointer: assign", 0},
		"structs": {field(bulb), field(bulb),
			"Color -> Color: Convert_v1_Bulb_To_shop_Bulb", "Color -> Color: Convert_shop_Bulb_To_v1_Bulb", 0},
		"lists": {field(sliceOf(basic("int32"))), field(sliceOf(basic("int64"))),
			"Color -> Color: slice: int64 of int32", "Color -> Color: slice: int32 of int64, checked", 0},
		"maps of lists": {field(mapOf(sliceOf(basic("uint8")))), field(mapOf(sliceOf(basic("uint16")))),
			"Color -> Color: map: slice: uint16 of byte", "Color -> Color: map: slice: byte of uint16, checked", 0},
		"no rule": {field(text), field(basic("bool")), "Color -> Color: no rule", "Color -> Color: no rule", 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := New(spoke(c.version, c.hub))
			pair := Pair{p.Packages[1].Type("Lamp"), p.Packages[0].Type("Lamp")}
			if got := moves(p.Conversions()[0].Of(pair)); got != c.toHub {
				t.Errorf("to the hub: %q", got)
			}
			if got := moves(p.Conversions()[0].Of(pair.Reverse())); got != c.back {
				t.Errorf("back: %q", got)
			}
			if faults := p.Conversions()[0].Faults; len(faults) != c.faults {
				t.Errorf("faults: %v", faults)
			}
		})
	}
}

// moves says what becomes of each field.
func moves(c *Conversion) string {
	if c.Cast {
		return "the value as it lies in memory"
	}
	var out []string
	for _, f := range c.Fields {
		out = append(out, f.String())
	}
	return strings.Join(out, "\n")
}

// TestTypesOfThemselves: a list of itself is not an endless tree.
func TestTypesOfThemselves(t *testing.T) {
	list := func(pkg *model.Package) *model.Type {
		typ := &model.Type{Name: "List", Package: pkg, Form: model.Slice}
		typ.Elem = typ
		return typ
	}
	p := spoke(&model.Field{Name: "A", Type: list(&model.Package{Path: "example.com/a"})},
		&model.Field{Name: "A", Type: pointerTo(list(&model.Package{Path: "example.com/b"}))})
	if got := New(p).Conversions()[0].Of(Pair{p.Packages[1].Type("Lamp"), p.Packages[0].Type("Lamp")}); got == nil {
		t.Error("no conversion")
	}
}

// TestDefaultsOfTypes: defaults are found at any depth, and types that hold none have none.
func TestDefaultsOfTypes(t *testing.T) {
	pkg := &model.Package{Path: "example.com/v1", Name: "v1", Output: true}
	pkg.Defaulter = true
	inner := &model.Type{Name: "Bulb", Package: pkg, Form: model.Struct, Fields: []*model.Field{
		{Name: "Watts", Type: basic("int32"), Exported: true, Default: &model.Default{JSON: "40"}},
		{Name: "Zero", Type: basic("int32"), Exported: true, Default: &model.Default{JSON: "0"}},
	}}
	lamp := &model.Type{Name: "Lamp", Package: pkg, Form: model.Struct, Fields: []*model.Field{
		{Name: "TypeMeta", Type: basic("string"), Exported: true},
		{Name: "Bulbs", Type: mapOf(sliceOf(inner)), Exported: true},
		{Name: "Name", Type: basic("string"), Exported: true},
	}}
	pkg.Types = []*model.Type{inner, lamp}
	d := New(&model.Program{Packages: []*model.Package{pkg}}).OfPackage(pkg).Defaults
	var fields []string
	for _, typ := range pkg.Types {
		for _, f := range d.Types[typ].Fields {
			fields = append(fields, typ.Name+"."+f.Field.Name)
		}
	}
	if !d.Generated || len(d.Objects) != 1 || !d.Object(lamp) ||
		!cmp.Equal(fields, []string{"Bulb.Watts", "Lamp.Bulbs"}) {
		t.Errorf("%v %v %v", d.Generated, d.Objects, fields)
	}
}
