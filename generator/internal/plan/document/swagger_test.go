package document

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	"google.golang.org/protobuf/proto"
	kubeschema "k8s.io/apimachinery/pkg/runtime/schema"
	kubeproto "k8s.io/kube-openapi/pkg/util/proto"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// sampleSwagger is the OpenAPI v2 document of the sample.
func sampleSwagger(t *testing.T, fields ...*model.Field) []byte {
	t.Helper()
	p := sample(fields...)
	documents := Of(p, p.Groups[0])
	if len(documents) != 2 || documents[0].Version == nil || documents[1].Version != nil {
		t.Fatalf("%d documents", len(documents))
	}
	return documents[1].Content
}

// TestSwaggerIsParsed: gnostic refuses words that v2 doesn't have; kube-openapi is what kubectl reads models with.
func TestSwaggerIsParsed(t *testing.T) {
	document, err := openapi_v2.ParseDocument(sampleSwagger(t,
		field("size", named(schema.ResourcePath, "resource", "Quantity", model.Struct))))
	if err != nil {
		t.Fatal(err)
	}
	models, err := kubeproto.NewOpenAPIData(document)
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, name := range models.ListModels() {
		if kinds, ok := models.LookupModel(name).GetExtensions()[kindsKey].([]any); ok {
			for _, kind := range kinds {
				k := kind.(map[any]any)
				found = found || kubeschema.GroupVersionKind{Group: k["group"].(string), Version: k["version"].(string),
					Kind: k["kind"].(string)} ==
					kubeschema.GroupVersionKind{Group: "shop.example.com", Version: "v1", Kind: "Widget"}
			}
		}
	}
	if !found {
		t.Error("no model is a Widget")
	}
}

func TestSwaggerSaysWhatItSays(t *testing.T) {
	var doc spec.Swagger
	if err := json.Unmarshal(sampleSwagger(t), &doc); err != nil {
		t.Fatal(err)
	}
	item, ok := doc.Paths.Paths["/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}"]
	if !ok || item.Patch == nil || item.Put == nil || item.Delete == nil {
		t.Fatal("no path of a widget")
	}
	if item.Patch.Extensions["x-kubernetes-action"] != "patch" || len(item.Patch.Consumes) != 5 ||
		item.Patch.Produces[1] != jsonType {
		t.Errorf("%+v", item.Patch)
	}
	var names []string
	for _, p := range item.Put.Parameters {
		names = append(names, p.Name+" "+p.In+" "+p.Type)
		if p.In == "body" && (!p.Required || p.Schema.Ref.String() == "") {
			t.Errorf("%+v", p)
		}
	}
	if got := strings.Join(names, ", "); got != "dryRun query string, fieldManager query string, fieldValidation "+
		"query string, body body " {
		t.Error(got)
	}
	owners := doc.Definitions["io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"].Properties["ownerReferences"]
	if owners.Extensions["x-kubernetes-list-type"] != "map" || owners.Extensions["x-kubernetes-list-map-keys"] == nil {
		t.Errorf("%+v", owners.Extensions)
	}
	if strings.Contains(string(sampleSwagger(t)), componentPrefix) {
		t.Error("refers to what v3 has")
	}
}

func TestDefinition(t *testing.T) {
	for _, test := range []struct{ v3, want string }{
		{`{"type":"string","default":"x","description":"d","x-kubernetes-list-type":"set"}`,
			`{"description":"d","type":"string","x-kubernetes-list-type":"set"}`},
		{`{"allOf":[{"$ref":"#/components/schemas/a.B"}],"default":{},"description":"d"}`,
			`{"$ref":"#/definitions/a.B","description":"d"}`},
		{`{"oneOf":[{"type":"string"},{"type":"number"}],"description":"d"}`,
			`{"description":"d","type":"string"}`},
		{`{"format":"int-or-string","oneOf":[{"type":"integer"},{"type":"string"}]}`,
			`{"format":"int-or-string","type":"string"}`},
		{`{"type":"object","nullable":true,"properties":{"a":{"type":"string"}},"description":"d"}`,
			`{"description":"d"}`},
		{`{"type":"array","items":{"$ref":"#/components/schemas/a.B","default":{}}}`,
			`{"items":{"$ref":"#/definitions/a.B"},"type":"array"}`},
		{`{"type":"object","additionalProperties":{"type":"string","default":""}}`,
			`{"additionalProperties":{"type":"string"},"type":"object"}`},
		{`{"type":"object","properties":{"default":{"type":"string"},"allOf":{"type":"integer","format":"int32"}}}`,
			`{"properties":{"allOf":{"format":"int32","type":"integer"},"default":{"type":"string"}},"type":"object"}`},
		{`{"x-kubernetes-preserve-unknown-fields":true}`,
			`{"x-kubernetes-preserve-unknown-fields":true}`},
	} {
		var s object
		if err := json.Unmarshal([]byte(test.v3), &s); err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(definition(s))
		if err != nil || string(got) != test.want {
			t.Errorf("%s\ngot  %s %v\nwant %s", test.v3, got, err, test.want)
		}
	}
}

func TestSwaggerReferencesResolve(t *testing.T) {
	content := sampleSwagger(t)
	var doc struct{ Definitions map[string]any }
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(err)
	}
	refs := regexp.MustCompile(`"#/definitions/([^"]+)"`).FindAllSubmatch(content, -1)
	for _, ref := range refs {
		if doc.Definitions[string(ref[1])] == nil {
			t.Errorf("%s is referred to and missing", ref[1])
		}
	}
	if len(refs) < 50 {
		t.Errorf("%d references", len(refs))
	}
}

// TestKubectlExplainsFromSwagger: a server that has no v3 is asked for v2.
func TestKubectlExplainsFromSwagger(t *testing.T) {
	kubectl, err := exec.LookPath("kubectl")
	if err != nil {
		t.Skip("this machine has no kubectl to explain with")
	}
	document, err := openapi_v2.ParseDocument(sampleSwagger(t))
	if err != nil {
		t.Fatal(err)
	}
	content, err := proto.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", discovery(nil))
	mux.HandleFunc("/openapi/v2", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/com.github.proto-openapi.spec.v2.v1.0+protobuf")
		_, _ = w.Write(content)
	})
	mux.HandleFunc("/openapi/v3", http.NotFound)
	server := httptest.NewServer(mux)
	defer server.Close()
	cmd := exec.Command(kubectl, "--server", server.URL, "explain", "widgets.metadata.ownerReferences",
		"--output=plaintext-openapiv2")
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "KUBECONFIG=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "ownerReferences") || !strings.Contains(string(out),
		"uid\t<string> -required-") {
		t.Errorf("%v\n%s", err, out)
	}
}
