package wiring

import (
	"slices"

	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
)

const shopRoot = "apigen.dev/generator/internal/emit/wiring/testdata/shop"

// The predeclared types and a few others.
func text() *model.Type                    { return &model.Type{Form: model.Basic, Basic: "string"} }
func predeclared(name string) *model.Type  { return &model.Type{Form: model.Basic, Basic: name} }
func pointerTo(t *model.Type) *model.Type  { return &model.Type{Form: model.Pointer, Elem: t} }
func sliceOf(t *model.Type) *model.Type    { return &model.Type{Form: model.Slice, Elem: t} }
func mapOf(t *model.Type) *model.Type      { return &model.Type{Form: model.Map, Key: text(), Elem: t} }
func embedded(f *model.Field) *model.Field { f.Embedded = true; return f }
func inline(f *model.Field) *model.Field   { f.Inline, f.JSON = true, ""; return f }
func field(name, json string, t *model.Type) *model.Field {
	return &model.Field{Name: name, JSON: json, Type: t, Exported: true}
}

func foreign(path, pkg, name string, form model.Form, fields ...*model.Field) *model.Type {
	return &model.Type{Name: name, Package: &model.Package{Path: path, Name: pkg}, Form: form, Fields: fields}
}

func method(name string, params, results []*model.Type) *model.Func {
	return &model.Func{Name: name, PointerReceiver: true, Params: params, Results: results, Pos: at(7)}
}

func at(line int) model.Position {
	return model.Position{Filename: "shop/types.go", Line: line, Column: 1, Offset: line}
}

// shop is the model of testdata/shop, as far as wiring looks.
type shop struct {
	program                        *model.Program
	hub, v1, v1beta1               *model.Type
	spec, hubSpec, status          *model.Type
	time, condition, part, context *model.Type
}

func newShop() *shop {
	s := &shop{context: foreign("context", "context", "Context", model.Interface)}
	const meta = "k8s.io/apimachinery/pkg/apis/meta/v1"
	s.time = foreign(meta, "v1", "Time", model.Struct)
	s.condition = foreign(meta, "v1", "Condition", model.Struct, field("Type", "type", text()),
		field("Status", "status", foreign(meta, "v1", "ConditionStatus", model.Basic)))
	s.condition.Fields[1].Type.Basic = "string"
	group := &model.Group{Name: "shop.example.com", GoName: "Shop"}
	group.Wiring = &model.WiringPackage{Path: shopRoot + "/wiring", Name: "wiring", Dir: "testdata/shop/wiring"}
	group.Internal = &model.Package{Path: shopRoot, Name: "shop", Output: true, Group: group.Name, HasGroup: true}
	group.Internal.Declared = registered()
	s.part = &model.Type{Name: "Part", Package: group.Internal, Form: model.Struct, Doc: "Part is a piece.",
		Fields: []*model.Field{field("Name", "name", text()), field("Count", "count", predeclared("int64"))}}
	s.status = &model.Type{Name: "WidgetStatus", Package: group.Internal, Form: model.Struct,
		DeepCopy: model.DeepCopyGenerate, Fields: []*model.Field{
			field("Phase", "phase", text()), field("LastSync", "lastSync", pointerTo(s.time)),
			field("Conditions", "conditions", sliceOf(s.condition)),
		}}
	s.hub, s.hubSpec = s.kind(group.Internal, s.part)
	s.hub.Kind = nil
	s.logic()
	s.program = &model.Program{
		RuntimeAvailable: true, Groups: []*model.Group{group}, Packages: []*model.Package{group.Internal},
	}
	resource := &model.Resource{
		Kind: "Widget", ListKind: "WidgetList", Plural: "widgets", Singular: "widget",
		ShortNames: []string{"wg"}, Categories: []string{"all"}, Hub: s.hub, Status: true,
	}
	group.Resources = []*model.Resource{resource}
	for _, name := range []string{"v1", "v1beta1"} {
		pkg := &model.Package{Path: shopRoot + "/" + name, Name: name, Version: name, Output: true, Group: group.Name,
			HasGroup: true}
		pkg.Funcs = []*model.Func{
			{Name: "Convert_" + name + "_Widget_To_shop_Widget", Package: pkg},
			{Name: "Convert_shop_Widget_To_" + name + "_Widget", Package: pkg},
			{Name: "SetObjectDefaults_Widget", Package: pkg},
		}
		pkg.Defaulter = true
		pkg.Declared = registered()
		t, spec := s.kind(pkg, pointerTo(s.part))
		version := &model.Version{Name: name, Packages: []*model.Package{pkg}, Kinds: []*model.Type{t}}
		group.Versions = append(group.Versions, version)
		resource.Versions = append(resource.Versions, model.ResourceVersion{Version: version, Type: t})
		s.program.Packages = append(s.program.Packages, pkg)
		if name == "v1" {
			s.v1, s.spec, resource.Storage = t, spec, version
			s.columns()
		} else {
			s.v1beta1 = t
			t.Kind.Deprecated = "shop.example.com/v1beta1 Widget goes away: use v1"
			t.Kind.Removed = "1.9"
		}
	}
	return s
}

// registered declares what a hand-written registration of a package declares.
func registered() map[string]model.Position { return map[string]model.Position{"AddToScheme": {}} }

// kind is Widget in one package.
func (s *shop) kind(pkg *model.Package, part *model.Type) (kind, spec *model.Type) {
	mode := &model.Type{Name: "Mode", Package: &model.Package{Path: shopRoot, Name: "shop"}, Form: model.Basic,
		Basic: "string"}
	spec = &model.Type{Name: "WidgetSpec", Package: pkg, Form: model.Struct, Doc: "WidgetSpec is what is wanted.",
		Fields: []*model.Field{
			field("Color", "color", text()), field("Mode", "mode", mode),
			field("Size", "size", pointerTo(predeclared("int32"))),
			field("Extra", "extra", mapOf(text())), field("Parts", "parts", sliceOf(part)),
			field("Limit", "limit", predeclared("float64")), field("On", "on", predeclared("bool")),
		}}
	spec.Fields[1].OmitEmpty, spec.Fields[2].OmitEmpty = true, true
	spec.Fields[0].Doc = "Color is what it looks like."
	const meta = "k8s.io/apimachinery/pkg/apis/meta/v1"
	objectMeta := foreign(meta, "v1", "ObjectMeta", model.Struct,
		field("CreationTimestamp", "creationTimestamp", s.time))
	kind = &model.Type{Name: "Widget", Package: pkg, Form: model.Struct, Pos: at(3),
		Doc: "Widget is a thing in a shop.", Kind: &model.Kind{}, Methods: map[string]*model.Func{},
		Fields: []*model.Field{
			inline(embedded(field("TypeMeta", "", foreign(meta, "v1", "TypeMeta", model.Struct)))),
			embedded(field("ObjectMeta", "metadata", objectMeta)),
			field("Spec", "spec", spec), field("Status", "status", s.status),
		}}
	kind.Methods["Summary"] = method("Summary", nil, []*model.Type{text()})
	return kind, spec
}

// logic gives the hub its methods.
func (s *shop) logic() {
	ctx, old := s.context, pointerTo(s.hub)
	list := foreign(gocode.ImportPath("field"), "field", "ErrorList", model.Slice)
	object := foreign(gocode.ImportPath("runtime"), "runtime", "Object", model.Interface)
	for _, m := range []*model.Func{
		method("AuthorizeCreate", []*model.Type{ctx}, []*model.Type{{Name: "error", Form: model.Interface}}),
		method("AuthorizeUpdate", []*model.Type{ctx, old}, []*model.Type{{Name: "error", Form: model.Interface}}),
		method("PrepareForCreate", []*model.Type{ctx}, nil),
		method("PrepareForUpdate", []*model.Type{ctx, old}, nil),
		method("Validate", []*model.Type{ctx}, []*model.Type{list}),
		method("ValidateUpdate", []*model.Type{object}, []*model.Type{{Name: "error", Form: model.Interface}}),
		method("ValidateStatusUpdate", []*model.Type{ctx, old}, []*model.Type{list}),
		method("Canonicalize", nil, nil),
		method("Warnings", []*model.Type{ctx, old}, []*model.Type{sliceOf(text())}),
		method("CheckGracefulDelete",
			[]*model.Type{ctx, pointerTo(foreign(gocode.ImportPath("metav1"), "v1", "DeleteOptions", model.Struct))},
			[]*model.Type{predeclared("bool")}),
		method("BlocksDeletion", nil, []*model.Type{predeclared("bool")}),
		method("PrepareForDelete", []*model.Type{ctx}, nil),
		method("DefaultPropagationPolicy", []*model.Type{ctx},
			[]*model.Type{foreign(gocode.ImportPath("metav1"), "v1", "DeletionPropagation", model.Basic)}),
		method("TimeToLive", []*model.Type{ctx}, []*model.Type{foreign("time", "time", "Duration", model.Basic)}),
		method("ValidateName", []*model.Type{text(), predeclared("bool")}, []*model.Type{sliceOf(text())}),
	} {
		s.hub.Methods[m.Name] = m
	}
}

// columns gives v1 one of each sort.
func (s *shop) columns() {
	f := func(t *model.Type, names ...string) []model.Step {
		var steps []model.Step
		for _, name := range names {
			for t.Form == model.Pointer {
				t = t.Elem
			}
			field := t.Fields[slices.IndexFunc(t.Fields, func(f *model.Field) bool { return f.Name == name })]
			steps = append(steps, model.Step{Field: field})
			t = field.Type
		}
		return steps
	}
	column := func(name, typ string, steps []model.Step, more ...model.Step) {
		s.v1.Kind.Columns = append(s.v1.Kind.Columns,
			model.Column{Name: name, Type: typ, Steps: append(steps, more...), Pos: at(9)})
	}
	column("Color", "string", f(s.v1, "Spec", "Color"))
	column("Mode", "string", f(s.v1, "Spec", "Mode"))
	column("Size", "integer", f(s.v1, "Spec", "Size"))
	column("Limit", "number", f(s.v1, "Spec", "Limit"))
	column("On", "boolean", f(s.v1, "Spec", "On"))
	column("Extra", "string", f(s.v1, "Spec", "Extra"))
	column("Team", "string", f(s.v1, "Spec", "Extra"), model.Step{Key: "team"})
	column("Part", "integer", f(s.v1, "Spec", "Parts"), model.Step{IsIndex: true}, model.Step{Field: s.part.Fields[1]})
	column("Bolts", "integer", f(s.v1, "Spec", "Parts"),
		model.Step{Filter: &model.Filter{Steps: f(s.part, "Name"), Value: "bolt"}}, model.Step{Field: s.part.Fields[1]})
	column("Ready", "string", f(s.v1, "Status", "Conditions"),
		model.Step{Filter: &model.Filter{Steps: f(s.condition, "Type"), Value: "Ready"}},
		model.Step{Field: s.condition.Fields[1]})
	column("Synced", "date", f(s.v1, "Status", "LastSync"))
	column("Age", "date", f(s.v1, "ObjectMeta", "CreationTimestamp"))
	columns := s.v1.Kind.Columns
	columns[5].Priority, columns[5].Description = 1, "What else there is."
	s.v1.Kind.Columns = append(columns, model.Column{Name: "Summary", Type: "string", Method: "Summary", Pos: at(10)})
	s.v1.Kind.Selectable = []model.SelectableField{
		{Name: "spec.color", JSONPath: ".spec.color", Steps: f(s.v1, "Spec", "Color"), Pos: at(11)},
		{Name: "spec.size", JSONPath: ".spec.size", Steps: f(s.v1, "Spec", "Size"), Pos: at(12)},
		{Name: "spec.on", JSONPath: ".spec.on", Steps: f(s.v1, "Spec", "On"), Pos: at(13)},
	}
}
