package register

import (
	"testing"

	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

func TestLeftToThePackage(t *testing.T) {
	kind := func() []*model.Type {
		return []*model.Type{{Name: "Book", Form: model.Struct, Kind: &model.Kind{}}}
	}
	tests := []struct {
		name string
		pkg  model.Package
		want bool
	}{
		{"a package of kinds", model.Package{Output: true, HasGroup: true, Version: "v1", Types: kind()}, true},
		{"an internal one", model.Package{Output: true, HasGroup: true, Types: kind()}, true},
		{"the core group", model.Package{Output: true, HasGroup: true, Group: "", Version: "v1", Types: kind()}, true},
		{"no output", model.Package{HasGroup: true, Version: "v1", Types: kind()}, false},
		{"no group", model.Package{Output: true, Version: "v1", Types: kind()}, false},
		{"no kinds", model.Package{Output: true, HasGroup: true, Version: "v1"}, false},
		{"AddToScheme by hand", model.Package{Output: true, HasGroup: true, Types: kind(),
			Declared: map[string]model.Position{"AddToScheme": {}}}, false},
		{"Install by hand", model.Package{Output: true, HasGroup: true, Types: kind(),
			Declared: map[string]model.Position{"Install": {}}}, false},
		{"an init by hand", model.Package{Output: true, HasGroup: true, Types: kind(), RegistersInInit: true}, false},
		{"an init by hand, and conversions", model.Package{Output: true, HasGroup: true, Types: kind(), RegistersInInit: true,
			ConversionPeers: []string{"example.com/shop"}}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := Emits(&test.pkg); got != test.want {
				t.Errorf("Emits = %v", got)
			}
			test.pkg.Name, test.pkg.Path = "v1", "example.com/shop/v1"
			files, err := Emitter().Emit(plan.New(&model.Program{Packages: []*model.Package{&test.pkg}}))
			if err != nil || (len(files) == 1) != test.want {
				t.Errorf("emitted %d files, %v", len(files), err)
			}
			if len(files) == 1 && testing.Verbose() {
				t.Logf("%s", files[0].Content)
			}
		})
	}
}
