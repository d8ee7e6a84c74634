package document

import (
	"testing"

	"apigen.dev/generator/internal/model"
)

func TestName(t *testing.T) {
	for _, test := range []struct{ path, model, name, want string }{
		{"k8s.io/apimachinery/pkg/apis/meta/v1", "", "ObjectMeta", "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"},
		{"example.com/shop/apis/shop/v1", "", "Widget", "com.example.shop.apis.shop.v1.Widget"},
		{"example.com/shop/apis/shop/v1", "com.shop.v1", "Widget", "com.shop.v1.Widget"},
		{"shop/v1", "", "Box[int]", "shop.v1.Box_int_"},
	} {
		typ := &model.Type{Name: test.name,
			Package: &model.Package{Path: test.path, PackageSchemas: model.PackageSchemas{ModelPackage: test.model}}}
		if got := Name(typ); got != test.want {
			t.Errorf("%s.%s is called %s, want %s", test.path, test.name, got, test.want)
		}
	}
}

func TestNameOfInstance(t *testing.T) {
	pkg := &model.Package{Path: "shop/v1", Name: "v1"}
	widget := &model.Type{Name: "Widget", Package: pkg, Form: model.Struct}
	for _, test := range []struct {
		want string
		args []*model.Type
	}{
		{"shop.v1.Box_string", []*model.Type{predeclared("string")}},
		{"shop.v1.Box_v1_Widget_Pointer_int32", []*model.Type{widget, pointerTo(predeclared("int32"))}},
		{"shop.v1.Box_Map_string_Slice_v1_Widget", []*model.Type{mapOf(sliceOf(widget))}},
	} {
		if got := Name(&model.Type{Name: "Box", Package: pkg, TypeArgs: test.args}); got != test.want {
			t.Errorf("the instance is called %s, want %s", got, test.want)
		}
	}
}

func TestOperationGroup(t *testing.T) {
	for _, test := range []struct{ group, version, id, tag string }{
		{"shop.example.com", "v1", "ShopExampleComV1", "shopExampleCom_v1"},
		{"discovery.k8s.io", "v1beta1", "DiscoveryV1beta1", "discovery_v1beta1"},
		{"flowcontrol.apiserver.k8s.io", "v1", "FlowcontrolApiserverV1", "flowcontrolApiserver_v1"},
		{"apps", "v1", "AppsV1", "apps_v1"},
		{"", "v1", "CoreV1", "core_v1"},
	} {
		id, tag := operationGroup(test.group, test.version), tag(test.group, test.version)
		if id != test.id || tag != test.tag {
			t.Errorf("%s/%s: %s and %s, want %s and %s", test.group, test.version, id, tag, test.id, test.tag)
		}
	}
}

func TestDescription(t *testing.T) {
	for _, test := range []struct{ doc, want string }{
		{"", ""},
		{"One\nline.", "One line."},
		{"One.\n+optional\nTODO: more\n\n\nTwo.\n", "One.\n\nTwo."},
		{"Seen.\n---\nNot seen.", "Seen."},
		{"Such as:\n  a: 1\n  b: 2\nThat is all.", "Such as:\n  a: 1\n  b: 2\nThat is all."},
		{"+marker\n\nText.", "Text."},
		{"One:\n\\+ two\n\\---\n\\TODO\n  \\+ three\n\\\\+ four.", "One: + two --- TODO\n  + three\n\\+ four."},
	} {
		if got := description(test.doc); got != test.want {
			t.Errorf("%q becomes %q, want %q", test.doc, got, test.want)
		}
	}
}
