package conversion

import (
	"strings"
	"testing"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
)

func TestPeerThatIsNotThere(t *testing.T) {
	pkg := &model.Package{Path: "example.com/v1", Name: "v1", Output: true,
		PackageConversion: model.PackageConversion{ConversionPeers: []string{"example.com/hub"}}}
	err := Emitter().Faults(plan.New(&model.Program{Packages: []*model.Package{pkg}})).Err()
	if err == nil || !strings.Contains(err.Error(), "package example.com/hub of +k8s:conversion-gen is not there") {
		t.Errorf("got %v", err)
	}
}

func TestNothingToConvert(t *testing.T) {
	off := &model.Package{Path: "example.com/off/v1", Name: "v1", Output: true,
		PackageConversion: model.PackageConversion{ConversionOff: true}}
	plain := &model.Package{Path: "example.com/v1", Name: "v1", Output: true}
	files, err := Emitter().Emit(plan.New(&model.Program{Packages: []*model.Package{off, plain}}))
	if err != nil || len(files) != 0 {
		t.Errorf("got %d files, %v", len(files), err)
	}
}

func TestNames(t *testing.T) {
	text := &model.Type{Form: model.Basic, Basic: "string"}
	octet := &model.Type{Form: model.Basic, Basic: "uint8"}
	named := &model.Type{Name: "Book", Package: &model.Package{Path: "example.com/a-b/v1.beta"}, Form: model.Struct}
	for want, typ := range map[string]*model.Type{
		"string":                    text,
		"Slice_byte":                {Form: model.Slice, Elem: octet},
		"v1beta_Book":               named,
		"Pointer_v1beta_Book":       {Form: model.Pointer, Elem: named},
		"Map_string_To_v1beta_Book": {Form: model.Map, Key: text, Elem: named},
		"Array_3_string":            {Form: model.Array, Len: 3, Elem: text},
		"Struct_string_Slice_string": {
			Form: model.Struct, Fields: []*model.Field{
				{Name: "A", Type: text}, {Name: "B", Type: &model.Type{Form: model.Slice, Elem: text}},
			},
		},
		"Interface_DeepCopy_GetKinds": {Form: model.Interface, InterfaceMethods: []string{"DeepCopy", "GetKinds"}},
	} {
		if got := plan.TypeName(typ); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// TestStorageVersionIsTheHub checks that of two versions without a hub, one converts to the other if the group is
// served. Projects with custom resources mark storage versions too, and convert in their own ways.
func TestStorageVersionIsTheHub(t *testing.T) {
	for _, test := range []struct {
		name           string
		marked, served bool
		files          int
	}{{"neither", false, false, 0}, {"marked", true, false, 0}, {"served", false, true, 1}, {"both", true, true, 1}} {
		t.Run(test.name, func(t *testing.T) {
			v1, v1beta1 := version("v1"), version("v1beta1")
			hub := v1.Packages[0].Types[0]
			hub.Kind.StorageVersion = test.marked
			group := &model.Group{Versions: []*model.Version{v1, v1beta1}, Resources: []*model.Resource{{
				Hub: hub, Storage: v1, Versions: []model.ResourceVersion{
					{Version: v1, Type: hub}, {Version: v1beta1, Type: v1beta1.Packages[0].Types[0]},
				},
			}}}
			files, err := Emitter().Emit(plan.New(&model.Program{
				Packages: []*model.Package{v1.Packages[0], v1beta1.Packages[0]}, Groups: []*model.Group{group},
				RuntimeAvailable: test.served,
			}))
			if err != nil || len(files) != test.files {
				t.Errorf("got %d files, %v", len(files), err)
			}
		})
	}
}

func version(name string) *model.Version {
	pkg := &model.Package{Path: "example.com/" + name, Name: name, Version: name, Output: true}
	pkg.Types = []*model.Type{{Name: "Lamp", Package: pkg, Form: model.Struct, Kind: &model.Kind{}}}
	return &model.Version{Name: name, Packages: []*model.Package{pkg}}
}
