package document

import (
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/generator/internal/spelling"
)

func named(path, pkg, name string, form model.Form) *model.Type {
	return &model.Type{Name: name, Package: &model.Package{Path: path, Name: pkg}, Form: form}
}

func predeclared(name string) *model.Type { return &model.Type{Form: model.Basic, Basic: name} }
func pointerTo(t *model.Type) *model.Type { return &model.Type{Form: model.Pointer, Elem: t} }
func sliceOf(t *model.Type) *model.Type   { return &model.Type{Form: model.Slice, Elem: t} }
func mapOf(t *model.Type) *model.Type {
	return &model.Type{Form: model.Map, Key: predeclared("string"), Elem: t}
}
func meta1(name string) *model.Type { return named(schema.MetaPath, "v1", name, model.Struct) }
func field(json string, t *model.Type) *model.Field {
	return &model.Field{Name: spelling.UpperFirst(json), JSON: json, Type: t, Exported: true}
}

// sample is a group with one namespaced kind, Widget, with a status, and one cluster-scoped kind, Zone, without.
func sample(spec ...*model.Field) *model.Program {
	pkg := &model.Package{Path: "example.com/shop/apis/shop/v1", Name: "v1", Version: "v1", Group: "shop.example.com",
		HasGroup: true, Output: true}
	version := &model.Version{Name: "v1", Packages: []*model.Package{pkg}}
	group := &model.Group{Name: "shop.example.com", Versions: []*model.Version{version},
		Wiring: &model.WiringPackage{Path: "example.com/shop/apis/shop/wiring", Name: "wiring", Dir: "wiring"}}
	for _, name := range []string{"Widget", "Zone"} {
		specType := &model.Type{Name: name + "Spec", Package: pkg, Form: model.Struct,
			Doc: name + "Spec is what is wanted.", Fields: spec}
		objectMeta := field("metadata", meta1("ObjectMeta"))
		objectMeta.Embedded, objectMeta.OmitEmpty = true, true
		t := &model.Type{Name: name, Package: pkg, Form: model.Struct, Kind: &model.Kind{},
			Doc: name + " is a thing in a shop.\n+kubebuilder:object:root=true", Fields: []*model.Field{
				{Name: "TypeMeta", Type: meta1("TypeMeta"), Embedded: true, Inline: true, Exported: true}, objectMeta,
				field("spec", specType),
			}}
		r := &model.Resource{Kind: name, ListKind: name + "List", Plural: lower(name) + "s", Singular: lower(name),
			Hub: t, Storage: version, ClusterScoped: name == "Zone"}
		r.Versions = []model.ResourceVersion{{Version: version, Type: t}}
		if name == "Widget" {
			r.Status = true
			status := &model.Type{Name: name + "Status", Package: pkg, Form: model.Struct}
			t.Fields = append(t.Fields, field("status", status))
			t.Fields[3].OmitEmpty = true
		}
		pkg.Types = append(pkg.Types, t)
		group.Resources = append(group.Resources, r)
	}
	return &model.Program{RuntimeAvailable: true, Packages: []*model.Package{pkg}, Groups: []*model.Group{group}}
}

func lower(s string) string { return string(s[0]|0x20) + s[1:] }

// sampleBuilder is a builder for the sample's only version.
func sampleBuilder(p *model.Program) *builder {
	return newBuilder(p, p.Groups[0], p.Groups[0].Versions[0])
}

// documentOf returns the only document of the sample's version.
func documentOf(p *model.Program) []byte { return Of(p, p.Groups[0])[0].Content }
