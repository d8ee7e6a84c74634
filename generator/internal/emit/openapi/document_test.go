package openapi

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/plan"
)

// sampleDocument is the document of the sample, as bytes.
func sampleDocument(t *testing.T) []byte {
	t.Helper()
	files, err := Emit(plan.New(sample(field("color", predeclared("string")))))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 3 || files[0].Name != "zz_generated.openapi.v1.json.gz" || !Emitter().Owns(files[0].Name) {
		t.Fatalf("%d files, %s the first", len(files), files[0].Name)
	}
	return emit.Readable(files[0].Content)
}

func TestParsedByKubeOpenAPI(t *testing.T) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(sampleDocument(t), &doc); err != nil {
		t.Fatal(err)
	}
	path := doc.Paths.Paths["/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}"]
	if path == nil || path.Patch == nil {
		t.Fatal("no PATCH of a widget")
	}
	var names []string
	for _, p := range path.Patch.Parameters {
		names = append(names, p.Name)
	}
	if got := strings.Join(names, " "); got != "dryRun fieldManager fieldValidation force" {
		t.Errorf("parameters of PATCH: %s", got)
	}
	gvk := path.Patch.Extensions["x-kubernetes-group-version-kind"].(map[string]any)
	if gvk["group"] != "shop.example.com" || gvk["version"] != "v1" || gvk["kind"] != "Widget" {
		t.Errorf("kind of PATCH: %v", gvk)
	}
	metadata := doc.Components.Schemas["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"]
	if metadata.Properties["finalizers"].Description == "" {
		t.Error("metadata.finalizers is not described")
	}
}

func TestPaths(t *testing.T) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(sampleDocument(t), &doc); err != nil {
		t.Fatal(err)
	}
	ids := map[string]string{}
	for path, item := range doc.Paths.Paths {
		for method, o := range map[string]*spec3.Operation{"get": item.Get, "put": item.Put, "post": item.Post,
			"patch": item.Patch, "delete": item.Delete} {
			if o == nil {
				continue
			}
			if other := ids[o.OperationId]; other != "" {
				t.Errorf("operation %s is both %s and %s %s", o.OperationId, other, method, path)
			}
			ids[o.OperationId] = method + " " + path
		}
	}
	const root = "/apis/shop.example.com/v1/"
	for id, want := range map[string]string{
		"getShopExampleComV1APIResources":                  "get " + root,
		"listShopExampleComV1WidgetForAllNamespaces":       "get " + root + "widgets",
		"createShopExampleComV1NamespacedWidget":           "post " + root + "namespaces/{namespace}/widgets",
		"deleteShopExampleComV1CollectionNamespacedWidget": "delete " + root + "namespaces/{namespace}/widgets",
		"replaceShopExampleComV1NamespacedWidgetStatus": "put " + root +
			"namespaces/{namespace}/widgets/{name}/status",
		"watchShopExampleComV1WidgetListForAllNamespaces": "get " + root + "watch/widgets",
		"watchShopExampleComV1NamespacedWidget": "get " + root +
			"watch/namespaces/{namespace}/widgets/{name}",
		"listShopExampleComV1Zone":      "get " + root + "zones",
		"patchShopExampleComV1Zone":     "patch " + root + "zones/{name}",
		"watchShopExampleComV1ZoneList": "get " + root + "watch/zones",
	} {
		if ids[id] != want {
			t.Errorf("%s is %q, want %q", id, ids[id], want)
		}
	}
	if len(doc.Paths.Paths) != 1+7+4 {
		t.Errorf("%d paths", len(doc.Paths.Paths))
	}
}

func TestReferencesResolve(t *testing.T) {
	content := sampleDocument(t)
	var doc spec3.OpenAPI
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	refs := regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllSubmatch(content, -1)
	for _, ref := range refs {
		if doc.Components.Schemas[string(ref[1])] == nil {
			t.Errorf("%s is referred to and missing", ref[1])
		}
	}
	if len(refs) < 50 {
		t.Errorf("%d references", len(refs))
	}
}

func TestUnservedIsLeftOut(t *testing.T) {
	p := sample()
	p.Groups[0].Resources[1].Versions[0].Type.Kind.Unserved = true
	files, err := Emit(plan.New(p))
	if err != nil || len(files) != 3 || bytes.Contains(emit.Readable(files[0].Content), []byte("Zone")) {
		t.Errorf("an unserved kind is in %d files: %v", len(files), err)
	}
	p.Groups[0].Resources[0].Versions[0].Type.Kind.Unserved = true
	if files, err = Emit(plan.New(p)); err != nil || len(files) != 0 {
		t.Errorf("%d files for an unserved version: %v", len(files), err)
	}
}

func TestSameBytes(t *testing.T) {
	first := sampleDocument(t)
	for range 5 {
		if !bytes.Equal(first, sampleDocument(t)) {
			t.Fatal("two runs differ")
		}
	}
}

// TestVerbsOfVirtualKinds: the document of a kind without storage has the paths of its verbs alone.
func TestVerbsOfVirtualKinds(t *testing.T) {
	p := sample()
	p.Groups[0].Resources = p.Groups[0].Resources[:1]
	p.Groups[0].Resources[0].Verbs = []string{"create"}
	for path, item := range parsed(t, p).Paths.Paths {
		if !strings.Contains(path, "/widgets") {
			continue
		}
		if path != "/apis/shop.example.com/v1/namespaces/{namespace}/widgets" || item.Post == nil || item.Get != nil {
			t.Errorf("%s is described", path)
		}
	}
}
