package register

import (
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

// TestLeftToThePackage: nothing is written where a package registers its types by hand, or where no files are asked
// for.
func TestLeftToThePackage(t *testing.T) {
	for name, test := range map[string]struct {
		change func(p *model.Package)
		want   int
	}{
		"a package of kinds": {func(*model.Package) {}, 1},
		"the core group":     {func(p *model.Package) { p.Group = "" }, 1},
		"no output":          {func(p *model.Package) { p.Output = false }, 0},
		"AddToScheme by hand": {func(p *model.Package) {
			p.Declared = map[string]model.Position{"AddToScheme": {}}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := &model.Package{Path: "example.com/shop/v1", Name: "v1", Version: "v1",
				Output: true, Group: "shop", HasGroup: true,
				Types: []*model.Type{{Name: "Book", Form: model.Struct, Kind: &model.Kind{}}}}
			test.change(p)
			files, err := Emitter().Emit(plan.New(&model.Program{Packages: []*model.Package{p}}))
			if err != nil || len(files) != test.want {
				t.Errorf("emitted %d files, %v", len(files), err)
			}
		})
	}
}
