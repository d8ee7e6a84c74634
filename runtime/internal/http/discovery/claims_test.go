package discovery

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/internal/jsondoc"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// secretsOf is the OpenAPI v2 document of a group of this server, which has a definition that others might stand for.
var secretsOf = jsondoc.New([]byte(`{"paths":{"/apis/shop.example.com/v1beta1/widgets":{"get":{"r":
{"$ref":"#/definitions/Secret"},"o":{"$ref":"#/definitions/DeleteOptions"}}}},"definitions":{
"Secret":{"type":"object","x-kubernetes-group-version-kind":[{"group":"","kind":"Secret","version":"v1"}]},
"DeleteOptions":{"x-kubernetes-group-version-kind":[{"group":"","kind":"DeleteOptions","version":"v1"}]}}}`))

// swaggerBeside returns the merged document of this server and of another one's version shop.example.com/v1.
func swaggerBeside(t *testing.T, theirs string) swaggerParts {
	t.Helper()
	documents, err := New([]Group{{
		Name: shopV1.Group, Versions: []string{"v1", "v1beta1"}, Swagger: secretsOf,
		Remotes:   map[string]Remote{"v1": {Swagger: jsondoc.New([]byte(theirs))}},
		Resources: []Resource{{widgets, map[string][]string{"": {"get", "list"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	return decoded[swaggerParts](t, handler{documents}, "/openapi/v2")
}

// TestSwaggerReferences: a document of another server refers to its own definitions, or isn't taken over, however the
// reference is written.
func TestSwaggerReferences(t *testing.T) {
	own := swaggerBeside(t, "")
	for name, reference := range map[string]string{
		"a definition that isn't there": `"#/definitions/Secret"`, "an escaped slash": `"#\/definitions\/Secret"`,
		"an escaped character": `"\u0023/definitions/Secre\u0074"`, "percent": `"#/definitions/Secre%74"`,
		"a pointer": `"#/definitions/~0Secret"`, "a part": `"#/definitions/Secret/properties/data"`,
		"a path": `"#/paths/~1apis~1shop.example.com~1v1beta1~1widgets"`, "an address": `"https://127.0.0.1/x"`,
		"a file": `"/etc/passwd"`, "nothing": `""`,
	} {
		got := swaggerBeside(t, `{"paths":{"/apis/shop.example.com/v1/widgets":{"get":{"x":[{"$ref":`+reference+`}]}}},
			"definitions":{}}`)
		if len(got.Paths) != len(own.Paths) || len(got.Definitions) != len(own.Definitions) {
			t.Errorf("%s is taken over: %s", name, toJSON(got))
		}
	}
	got := swaggerBeside(t, `{"paths":{"/apis/shop.example.com/v1/widgets":{"get":{"x":
		{"$ref":"#\/definitions\/Secret"}}}},
		"definitions":{"Secret":{"type":"number","properties":{"$ref":{"type":"string"}}}}}`)
	if !strings.Contains(string(got.Paths["/apis/shop.example.com/v1/widgets"]), `"#/definitions/Secret_v2"`) ||
		got.Definitions["Secret_v2"] == nil || !strings.Contains(string(got.Definitions["Secret"]), `"object"`) {
		t.Errorf("%s", toJSON(got))
	}
}

// TestSwaggerKinds: definitions and operations of another server are of kinds of its version, and of no others.
func TestSwaggerKinds(t *testing.T) {
	const secret, widget = `{"group":"","kind":"Secret","version":"v1"}`,
		`{"group":"shop.example.com","kind":"Widget","version":"v1"}`
	got := swaggerBeside(t, `{"paths":{"/apis/shop.example.com/v1/widgets":{
		"get":{"r":{"$ref":"#/definitions/Widget"},"x-kubernetes-group-version-kind":`+widget+`},
		"put":{"r":{"$ref":"#/definitions/DeleteOptions"},"x-kubernetes-group-version-kind":`+secret+`}}},
		"definitions":{
		"Widget":{"x-kubernetes-group-version-kind":[`+secret+`,`+widget+`,7]},
		"DeleteOptions":{"x-kubernetes-group-version-kind":[`+secret+`,
			{"group":"shop.example.com","kind":"DeleteOptions","version":"v1"}]}}}`)
	want := map[string]string{
		"Secret": "Secret", "DeleteOptions": "DeleteOptions DeleteOptions", "Widget": "Widget",
	}
	for name, definition := range got.Definitions {
		var of struct {
			Kinds []struct{ Kind string } `json:"x-kubernetes-group-version-kind"`
		}
		if err := json.Unmarshal(definition, &of); err != nil {
			t.Fatal(err)
		}
		var kinds []string
		for _, k := range of.Kinds {
			kinds = append(kinds, k.Kind)
		}
		if strings.Join(kinds, " ") != want[name] {
			t.Errorf("%s is of %v", name, kinds)
		}
	}
	path := string(got.Paths["/apis/shop.example.com/v1/widgets"])
	if len(got.Definitions) != len(want) || strings.Contains(path, "Secret") ||
		!strings.Contains(path, `"kind":"Widget"`) {
		t.Errorf("%s", toJSON(got))
	}
}

// TestSwaggerPaths: a document of another server has no paths beside those of its version.
func TestSwaggerPaths(t *testing.T) {
	own := swaggerBeside(t, "")
	for _, path := range []string{
		"/api/v1/secrets", "/apis/shop.example.com/v1beta1/widgets", "/apis/shop.example.com/v1/../v1beta1/widgets",
		"/apis/shop.example.com/v1/%2e%2e/v1beta1/widgets", "/apis/shop.example.com/v1//widgets",
		"/apis/shop.example.com/v1/./widgets", "/apis/shop.example.com/v1/widgets?watch=1",
	} {
		if got := swaggerBeside(t, `{"paths":{"`+path+`":{"get":{}}}}`); len(got.Paths) != len(own.Paths) ||
			string(got.Paths[path]) != string(own.Paths[path]) {
			t.Errorf("%s is taken over: %s", path, toJSON(got))
		}
	}
}

// TestResourcesOf: what another server says of its resources is about the version that it was asked for, and names
// parts of paths.
func TestResourcesOf(t *testing.T) {
	aggregated := `{"kind":"APIGroupDiscoveryList","items":[{"metadata":{"name":"shop.example.com"},"versions":[
		{"version":"v1","resources":[
		{"resource":"widgets","responseKind":{"group":"","version":"v1","kind":"Secret"},"scope":"Namespaced",
			"subresources":[
			{"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"}},
			{"subresource":"../x"}]},
		{"resource":"widgets","responseKind":{"kind":"Other"},"scope":"Cluster"},
		{"resource":"../../../../api/v1/secrets"},{"resource":"a/b"},{"resource":".."},{"resource":""},
		{"resource":"a?b"},{"resource":"a%2fb"},{"resource":"a#b"},{"resource":"a b"},{"resource":"a\\b"},
		{"resource":"a\nb"},{"resource":"queue:length_1.x"}]}]}]}`
	legacy := `{"kind":"APIResourceList","groupVersion":"v1","resources":[
		{"name":"widgets","kind":"Secret","namespaced":true},
		{"name":"widgets/scale","group":"autoscaling","version":"v1","kind":"Scale"},
		{"name":"widgets/../x"},{"name":".."},{"name":"a?b"},{"name":"queue:length_1.x"}]}`
	all, err := ReadAggregated([]byte(aggregated))
	if err != nil {
		t.Fatal(err)
	}
	one, err := ReadResources([]byte(legacy), shopV1)
	if err != nil {
		t.Fatal(err)
	}
	for name, remote := range map[string]Remote{"aggregated": all[shopV1], "legacy": one} {
		a := front(t, remote)
		var names []string
		list := decoded[aggregatedList](t, a, "/apis", "Accept", AcceptAggregated)
		for _, r := range list.Items[0].Versions[0].Resources {
			names = append(names, r.Resource)
			for _, s := range r.Subresources {
				names = append(names, r.Resource+"/"+s.Subresource+" "+s.ResponseKind.Group)
			}
			want := metav1.GroupVersionKind{Group: shopV1.Group, Version: "v1", Kind: "Secret"}
			if r.Resource == "widgets" && r.ResponseKind != want {
				t.Errorf("%s: the kind %v", name, r.ResponseKind)
			}
		}
		if want := []string{"widgets", "widgets/scale autoscaling", "queue:length_1.x"}; !slices.Equal(names, want) {
			t.Errorf("%s: %q", name, names)
		}
		if got := do(a, "/apis/shop.example.com"); got.Code != http.StatusOK {
			t.Errorf("%s: %d", name, got.Code)
		}
	}
}
