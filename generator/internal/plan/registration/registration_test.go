package registration

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"apigen.dev/generator/internal/model"
)

// TestRegistration: a package of kinds in a group is registered by generated code, unless hand-written code does so.
func TestRegistration(t *testing.T) {
	apimachinery := &model.Package{Path: "k8s.io/apimachinery/pkg/runtime"}
	scheme := &model.Type{Form: model.Pointer, Elem: &model.Type{Name: "Scheme", Package: apimachinery}}
	failure := &model.Type{Name: "error", Form: model.Interface}
	function := func(name string, results ...*model.Type) *model.Func {
		return &model.Func{Name: name, Params: []*model.Type{scheme}, Results: results}
	}
	add, install := function("AddWidgets"), function("Install", failure)
	tests := []struct {
		name   string
		change func(p *model.Package)
		want   Registration
	}{
		{"a package of kinds", func(*model.Package) {},
			Registration{Generated: true, Function: "AddToScheme", Builder: "localSchemeBuilder"}},
		{"an internal one", func(p *model.Package) { p.Version = "" },
			Registration{Generated: true, Function: "AddToScheme", Builder: "localSchemeBuilder"}},
		{"a builder by hand", func(p *model.Package) { p.LocalSchemeBuilder = "SchemeBuilder" },
			Registration{Generated: true, Function: "AddToScheme", Builder: "SchemeBuilder"}},
		{"objects that are no kinds", func(p *model.Package) {
			p.Types[0].Kind, p.Types[0].Fields = nil, []*model.Field{{Name: "TypeMeta", Embedded: true}}
			p.Types[0].DeepCopyInterfaces = []model.Ref{{Path: apimachinery.Path, Name: "Object"}}
		}, Registration{Generated: true, Function: "AddToScheme", Builder: "localSchemeBuilder"}},
		{"no group", func(p *model.Package) { p.HasGroup = false }, Registration{}},
		{"no kinds", func(p *model.Package) { p.Types = nil }, Registration{}},
		{"a package of another module", func(p *model.Package) { p.ServedBy = &model.Package{} }, Registration{}},
		{"AddToScheme by hand", func(p *model.Package) { declare(p, "AddToScheme") },
			Registration{Function: "AddToScheme"}},
		{"AddToScheme and a builder by hand", func(p *model.Package) {
			declare(p, "AddToScheme")
			p.LocalSchemeBuilder = "SchemeBuilder"
		}, Registration{Function: "AddToScheme", Builder: "SchemeBuilder"}},
		{"a variable Install", func(p *model.Package) { declare(p, "Install") }, Registration{Function: "Install"}},
		{"a function Install", func(p *model.Package) { declare(p, "Install", install) },
			Registration{Function: "Install"}},
		{"an Install that can't fail", func(p *model.Package) { declare(p, "Install", function("Install")) },
			Registration{Other: function("Install")}},
		{"a type Install", func(p *model.Package) {
			declare(p, "Install")
			p.Types = append(p.Types, &model.Type{Name: "Install", Form: model.Struct})
		}, Registration{}},
		{"a function of another name", func(p *model.Package) { declare(p, add.Name, add) }, Registration{Other: add}},
		{"two of them", func(p *model.Package) {
			declare(p, add.Name, add, function("AddWidgetsToScheme", failure))
		}, Registration{Other: function("AddWidgetsToScheme", failure)}},
		{"an init by hand", func(p *model.Package) { p.RegistersInInit = true }, Registration{}},
		{"an init by hand, and conversions", func(p *model.Package) {
			p.RegistersInInit, p.ConversionPeers = true, []string{"example.com/shop"}
		}, Registration{Generated: true, Function: "AddToScheme", Builder: "localSchemeBuilder"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			p := &model.Package{HasGroup: true, Version: "v1", Declared: map[string]model.Position{},
				Types: []*model.Type{{Name: "Widget", Form: model.Struct, Kind: &model.Kind{}}}}
			test.change(p)
			got, want := *Of(p, false), test.want
			if (got.Other == nil) != (want.Other == nil) || got.Other != nil && got.Other.Name != want.Other.Name {
				t.Errorf("the other function is %v", got.Other)
			}
			if got.Other, got.Types, got.Initial, want.Other = nil, nil, nil, nil; !cmp.Equal(got, want) {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

func declare(p *model.Package, name string, functions ...*model.Func) {
	p.Declared[name] = model.Position{}
	p.Funcs = append(p.Funcs, functions...)
}
