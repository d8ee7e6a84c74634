package judge

import (
	"reflect"
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
)

func at(line int) model.Position { return model.Position{Filename: "types.go", Line: line, Column: 1} }

func basic(name string) *model.Type { return &model.Type{Form: model.Basic, Basic: name} }

// lamp returns a program with one package and one struct.
func lamp(fields ...*model.Field) *model.Program {
	pkg := &model.Package{Path: "example.com/shop/v1", Name: "v1", Version: "v1", HasGroup: true, Output: true}
	for _, f := range fields {
		f.Exported = true
		if f.JSON == "" {
			f.JSON = strings.ToLower(f.Name)
		}
		f.Tag = `json:"` + f.JSON + `"`
	}
	pkg.Types = []*model.Type{{Name: "Lamp", Package: pkg, Form: model.Struct, Fields: fields}}
	return &model.Program{Packages: []*model.Package{pkg}}
}

// with returns a field with rules.
func with(name string, t *model.Type, rules ...model.Rule) *model.Field {
	f := &model.Field{Name: name, Type: t, Pos: at(1)}
	f.Schema.Rules = rules
	return f
}

func minimum(text string, line int) model.Rule {
	return model.Rule{Check: model.Minimum, Text: text, Marker: "k8s:minimum", Declarative: true, Pos: at(line)}
}

func maximum(text string, line int) model.Rule {
	return model.Rule{Check: model.Maximum, Text: text, Marker: "k8s:maximum", Declarative: true, Pos: at(line)}
}

// TestProgram holds what judges find in models against what is expected. Judging changes nothing.
func TestProgram(t *testing.T) {
	for name, c := range map[string]struct {
		program func() *model.Program
		want    []string
	}{
		"nothing": {func() *model.Program { return lamp(with("Watts", basic("int32"), minimum("1", 2))) }, nil},
		"a bound of a text": {
			func() *model.Program { return lamp(with("Color", basic("string"), minimum("1", 2))) },
			[]string{`types.go:2:1: marker "+k8s:minimum" is for numbers, and Color is a string`},
		},
		"bounds in disorder": {
			func() *model.Program { return lamp(with("Watts", basic("int32"), minimum("9", 2), maximum("3", 3))) },
			[]string{"types.go:2:1: no value keeps both +k8s:minimum=9 and +k8s:maximum=3"},
		},
		"a bound that no value reaches, which a default isn't held against": {
			func() *model.Program {
				f := with("Watts", basic("int8"), minimum("1000", 2))
				f.Default = &model.Default{JSON: "5", Pos: at(4)}
				return lamp(f)
			},
			[]string{`types.go:2:1: marker "+k8s:minimum": no int8 is 1000 or more`},
		},
		"a default below the minimum": {
			func() *model.Program {
				f := with("Watts", basic("int32"), minimum("10", 2))
				f.Default = &model.Default{JSON: "5", Pos: at(4)}
				return lamp(f)
			},
			[]string{"types.go:4:1: default 5 of Watts is below the minimum 10 (+k8s:minimum)"},
		},
		"a patch strategy of a text": {
			func() *model.Program {
				f := with("Color", basic("string"))
				f.Schema.PatchStrategy = "merge"
				return lamp(f)
			},
			[]string{"types.go:1:1: patchStrategy of Color: it is for lists, maps and structs, and the field is a " +
				"string"},
		},
		"a schema type that Go's isn't": {
			func() *model.Program {
				f := with("Watts", basic("int32"))
				f.Schema.Type = "string"
				f.Schema.Claims = []model.Claim{{Marker: "kubebuilder:validation:Type", Value: "text",
					Form: model.SchemaTypes, Pos: at(2)}}
				return lamp(f)
			},
			[]string{`types.go:2:1: marker "+kubebuilder:validation:Type": "text" of Watts is not one of array, ` +
				`boolean, integer, number, object, string`},
		},
		"a list marker on a map": {
			func() *model.Program {
				f := with("Labels", &model.Type{Form: model.Map, Key: basic("string"), Elem: basic("string")})
				f.Schema.Claims = []model.Claim{{Marker: "listType", Value: "set", Form: model.MergedLists, Pos: at(2)}}
				return lamp(f)
			},
			[]string{`types.go:2:1: marker "+listType" has no effect here: it is for lists, and Labels is a map`},
		},
		"two fields of one name": {
			func() *model.Program {
				return lamp(with("Color", basic("string")), &model.Field{Name: "Hue", JSON: "color",
					Type: basic("string"), Pos: at(7)})
			},
			[]string{`types.go:7:1: the fields Color and Hue have the same name on the wire, "color": encoding/json ` +
				`would leave out both`},
		},
		"numbers that JSON doesn't have": {
			func() *model.Program { return lamp(with("Phase", basic("complex128"))) },
			[]string{"types.go:1:1: Lamp.Phase is a complex128, which JSON doesn't have: use two numbers"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			judged := c.program()
			var got []string
			for _, f := range Program(judged, nil) {
				got = append(got, f.Error.Error())
			}
			if !reflect.DeepEqual(got, c.want) {
				t.Errorf("found\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(c.want, "\n"))
			}
			if !reflect.DeepEqual(judged, c.program()) {
				t.Error("judging changed the model")
			}
		})
	}
}

// TestLeaveOut applies what findings ask for: the rule goes, with the word that OpenAPI has for it, and the default and
// the tags for patches go; all others stay.
func TestLeaveOut(t *testing.T) {
	bad := with("Color", basic("string"), minimum("1", 2), model.Rule{Check: model.MaxLength, Text: "5",
		Marker: "k8s:maxLength", Pos: at(3)})
	bad.Schema.SetLimit(model.Minimum, 1)
	bad.Schema.SetLimit(model.MaxLength, 5)
	bad.Schema.PatchStrategy = "merge"
	bad.Default = &model.Default{JSON: `"too long"`, Pos: at(4)}
	good := with("Watts", basic("int32"), minimum("1", 2))
	good.Default = &model.Default{JSON: "5", Pos: at(4)}
	p := lamp(bad, good)

	LeaveOut(Program(p, nil))
	if s := bad.Schema; len(s.Rules) != 1 || s.Rules[0].Check != model.MaxLength || s.Limit(model.Minimum) != nil ||
		s.Limit(model.MaxLength) == nil || s.PatchStrategy != "" {
		t.Errorf("the schema is %+v", s)
	}
	if bad.Default != nil || good.Default == nil || len(good.Schema.Rules) != 1 {
		t.Errorf("the defaults are %+v and %+v", bad.Default, good.Default)
	}
	if more := Program(p, nil); len(more) != 0 {
		t.Errorf("what is left has faults: %v", more)
	}
}
