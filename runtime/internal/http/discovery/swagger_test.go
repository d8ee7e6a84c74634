package discovery

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/verb"
	openapi_v2 "github.com/google/gnostic-models/openapiv2"
	openapi_v3 "github.com/google/gnostic-models/openapiv3"
	"google.golang.org/protobuf/proto"
	kubeproto "k8s.io/kube-openapi/pkg/util/proto"
)

// twoGroups serves what the generator makes of two examples, but for one version.
func twoGroups(t *testing.T) handler {
	t.Helper()
	group := func(name, file string, versions []string, info *verb.Info) Group {
		data, err := os.ReadFile("../../../../examples/" + file)
		if err != nil {
			t.Fatal(err)
		}
		info.Group = name
		for _, version := range versions {
			info.Versions = append(info.Versions, api.VersionInfo{Name: version})
		}
		return Group{
			Name: name, Versions: versions, Swagger: api.Document{Gzip: data, Hash: "of a part"},
			Resources: []Resource{{Info: info}},
		}
	}
	documents, err := New([]Group{
		group("park.example.com", "park/apis/park/wiring/zz_generated.swagger.json.gz", []string{"v1"},
			&verb.Info{Names: api.Names{Kind: "Park", ListKind: "ParkList", Plural: "parks"}, Scope: api.Cluster}),
		group("shop.example.com", "quickstart/apis/shop/wiring/zz_generated.swagger.json.gz", []string{"v1"},
			&verb.Info{Names: api.Names{Kind: "Widget", ListKind: "WidgetList", Plural: "widgets"},
				Scope: api.Namespaced}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return handler{documents}
}

func TestSwaggerHasAllGroups(t *testing.T) {
	a := twoGroups(t)
	w := do(a, swaggerPath)
	if w.Code != 200 || w.Header().Get("Content-Type") != negotiation.TypeJSON || w.Header().Get("Etag") == "" ||
		w.Header().Get("Vary") == "" {
		t.Fatal(w.Code, w.Header())
	}
	var doc swaggerParts
	if err := json.Unmarshal(w.Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/apis/park.example.com/v1/", "/apis/park.example.com/v1/parks/{name}/status",
		"/apis/park.example.com/v1/watch/parks/{name}",
		"/apis/shop.example.com/v1/widgets", "/apis/shop.example.com/v1/watch/namespaces/{namespace}/widgets",
		"/apis/shop.example.com/v1/namespaces/{namespace}/widgets/{name}"} {
		if doc.Paths[path] == nil {
			t.Errorf("%s is missing", path)
		}
	}
	for path := range doc.Paths {
		if strings.Contains(path, "v1beta1") {
			t.Errorf("%s is there", path)
		}
	}
	for _, reference := range definitionReference.FindAllSubmatch(w.Body.Bytes(), -1) {
		if doc.Definitions[string(reference[1])] == nil {
			t.Errorf("%s is referred to and missing", reference[1])
		}
	}
	if doc.Definitions["com.example.park.apis.park.v1beta1.Park"] != nil {
		t.Error("a version that isn't served has its definitions")
	}
	var options struct {
		Kinds []map[string]string `json:"x-kubernetes-group-version-kind"`
	}
	if err := json.Unmarshal(doc.Definitions["io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"],
		&options); err != nil {
		t.Fatal(err)
	}
	for _, group := range []string{"park.example.com", "shop.example.com"} {
		if !slices.ContainsFunc(options.Kinds, func(kind map[string]string) bool {
			return kind["group"] == group && kind["version"] == "v1"
		}) {
			t.Errorf("DeleteOptions are no kind of %s: %v", group, options.Kinds)
		}
	}
}

func TestSwaggerInProtobuf(t *testing.T) {
	a := twoGroups(t)
	for _, accept := range []string{"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
		swaggerProtobuf + ",application/json;q=0.5"} {
		w := do(a, swaggerPath, "Accept", accept)
		if w.Code != 200 || w.Header().Get("Content-Type") != swaggerProtobuf {
			t.Fatal(accept, w.Code, w.Header())
		}
		document := &openapi_v2.Document{}
		if err := proto.Unmarshal(w.Body.Bytes(), document); err != nil {
			t.Fatal(err)
		}
		models, err := kubeproto.NewOpenAPIData(document)
		if err != nil || models.LookupModel("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") == nil {
			t.Error(err, models.ListModels())
		}
	}
	if w := do(a, swaggerPath, "Accept", "text/html"); w.Code != 406 {
		t.Error(w.Code, w.Body)
	}
}

func TestOpenAPIInProtobuf(t *testing.T) {
	data, err := os.ReadFile("../../../../examples/park/apis/park/wiring/zz_generated.openapi.v1.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	documents, err := New([]Group{{
		Name: "park.example.com", Versions: []string{"v1"}, OpenAPI: map[string]api.Document{"v1": {Gzip: data,
			Hash: "of it"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	a := handler{documents}
	const path = openAPIRoot + "/apis/park.example.com/v1"
	plain := do(a, path)
	for _, accept := range []string{"application/com.github.proto-openapi.spec.v3@v1.0+protobuf",
		openAPIProtobuf + ",application/json;q=0.5"} {
		w := do(a, path, "Accept", accept)
		if w.Code != 200 || w.Header().Get("Content-Type") != openAPIProtobuf ||
			w.Header().Get("Etag") != plain.Header().Get("Etag") {
			t.Fatal(accept, w.Code, w.Header())
		}
		document := &openapi_v3.Document{}
		if err := proto.Unmarshal(w.Body.Bytes(), document); err != nil {
			t.Fatal(err)
		}
		models, err := kubeproto.NewOpenAPIV3Data(document)
		if err != nil || models.LookupModel("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta") == nil {
			t.Error(err, models.ListModels())
		}
	}
}

func TestSwaggerIsCached(t *testing.T) {
	a := twoGroups(t)
	plain := do(a, swaggerPath)
	zipped := do(a, swaggerPath, "Accept-Encoding", "gzip")
	unzip, err := gzip.NewReader(zipped.Body)
	if err != nil || zipped.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(err, zipped.Header())
	}
	if data, err := io.ReadAll(unzip); err != nil || string(data) != plain.Body.String() {
		t.Error("differs when compressed", err)
	}
	tag := plain.Header().Get("Etag")
	var again *httptest.ResponseRecorder
	if again = do(a, swaggerPath, "If-None-Match", tag); again.Code != 304 || again.Body.Len() > 0 ||
		again.Header().Get("Etag") != tag {
		t.Error(again.Code, again.Header())
	}
	another := do(twoGroups(t), swaggerPath).Header().Get("Etag")
	if !regexp.MustCompile(`^"[0-9A-F]{128}"$`).MatchString(tag) || another != tag {
		t.Error(tag, another)
	}
}
