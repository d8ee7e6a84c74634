package document

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"k8s.io/kube-openapi/pkg/spec3"
)

// sampleDocument is the document of the sample, as bytes.
func sampleDocument() []byte {
	return documentOf(sample(field("color", predeclared("string"))))
}

func TestParsedByKubeOpenAPI(t *testing.T) {
	var doc spec3.OpenAPI
	if err := json.Unmarshal(sampleDocument(), &doc); err != nil {
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
	if err := json.Unmarshal(sampleDocument(), &doc); err != nil {
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
	content := sampleDocument()
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
	if bytes.Contains(documentOf(p), []byte("Zone")) {
		t.Error("an unserved kind is in the document")
	}
}

func TestSameBytes(t *testing.T) {
	first := sampleDocument()
	for range 5 {
		if !bytes.Equal(first, sampleDocument()) {
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
