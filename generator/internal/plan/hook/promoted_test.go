package hook

import (
	"testing"

	"apigen.dev/generator/internal/model"
)

// TestPromoted finds the hooks that a kind has by embedding a struct, as Go does, and warns of those that another
// signature keeps from being called.
func TestPromoted(t *testing.T) {
	pkg := &model.Package{Path: "example.com/shop/v1", Name: "v1"}
	named := func(path, name string) *model.Type {
		return &model.Type{Name: name, Package: &model.Package{Path: path}}
	}
	shared := &model.Type{Name: "Shared", Package: pkg, Form: model.Struct}
	context := named("context", "Context")
	faults := named("k8s.io/apimachinery/pkg/util/validation/field", "ErrorList")
	shared.Methods = map[string]*model.Func{
		"Validate":         {Name: "Validate", Params: []*model.Type{context}, Results: []*model.Type{faults}},
		"PrepareForCreate": {Name: "PrepareForCreate", Params: []*model.Type{context}},
		"ValidateUpdate": {Name: "ValidateUpdate", Params: []*model.Type{context,
			{Form: model.Pointer, Elem: shared}}, Results: []*model.Type{faults}},
	}
	lamp := &model.Type{Name: "Lamp", Package: pkg, Form: model.Struct, Methods: map[string]*model.Func{}}
	lamp.Fields = []*model.Field{{Name: "Shared", Type: shared, Embedded: true, Inline: true, Exported: true}}
	own := &model.Func{Name: "PrepareForCreate", Params: []*model.Type{context}}
	lamp.Methods["PrepareForCreate"] = own
	r := &model.Resource{Kind: "Lamp", Hub: lamp}

	found := map[string]*model.Func{}
	for _, h := range Of(r) {
		found[h.Name] = h.Func
	}
	if len(found) != 2 || found["Validate"] != shared.Methods["Validate"] || found["PrepareForCreate"] != own {
		t.Errorf("the hooks are %v", found)
	}
	const want = "method ValidateUpdate of Lamp is not called by the server: its signature is not " +
		"`func (in *Lamp) ValidateUpdate(ctx context.Context, old *Lamp) field.ErrorList`"
	if out := Warnings(r); len(out) != 1 || out[0].Message != want {
		t.Errorf("the warnings are %v", out)
	}
}
