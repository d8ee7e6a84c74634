package openapi

import (
	"slices"
	"testing"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// TestFiles expects a file for each served version, one for the group, and one that embeds them: none for a group that
// serves no version.
func TestFiles(t *testing.T) {
	pkg := &model.Package{Path: "example.com/shop/v1", Name: "v1", Version: "v1", Group: "shop.example.com",
		HasGroup: true, Output: true}
	version := &model.Version{Name: "v1", Packages: []*model.Package{pkg}}
	kind := &model.Type{Name: "Widget", Package: pkg, Form: model.Struct, Kind: &model.Kind{}}
	pkg.Types = []*model.Type{kind}
	group := &model.Group{Name: pkg.Group, Versions: []*model.Version{version},
		Wiring: &model.WiringPackage{Path: "example.com/shop/wiring", Name: "wiring", Dir: "wiring"},
		Resources: []*model.Resource{{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Hub: kind,
			Storage: version, Versions: []model.ResourceVersion{{Version: version, Type: kind}}}}}
	p := &model.Program{RuntimeAvailable: true, Packages: []*model.Package{pkg}, Groups: []*model.Group{group}}

	names := func() (out []string) {
		files, err := Emit(plan.New(p))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if !Emitter().Owns(f.Name) || len(emit.Readable(f.Content)) == 0 {
				t.Errorf("%s is empty, or isn't the emitter's", f.Name)
			}
			out = append(out, f.Name)
		}
		return out
	}
	want := []string{"zz_generated.openapi.v1.json.gz", SwaggerFileName, GoFileName}
	if got := names(); !slices.Equal(got, want) {
		t.Errorf("the files are %q, want %q", got, want)
	}
	kind.Kind.Unserved = true
	if got := names(); len(got) != 0 {
		t.Errorf("the files of a version that isn't served are %q", got)
	}
}
