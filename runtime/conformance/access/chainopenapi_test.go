package access

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"k8s.io/client-go/openapi"
)

// The OpenAPI v2 document has the paths of all groups, and each path once.
func testSwagger(t *testing.T, c *chained) {
	until(t, func() (bool, string) { // the document is made when what it says has changed
		document, err := c.discover(t, false).OpenAPISchemaWithContext(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var paths []string
		for _, path := range document.Paths.Path {
			paths = append(paths, path.Name)
		}
		for _, want := range []string{
			"/api/v1/namespaces/{namespace}/configmaps", "/apis/apiregistration.k8s.io/v1/apiservices",
			"/apis/chain.example.com/v1/namespaces/{namespace}/things/{name}/status",
			"/apis/wardle.example.com/v1beta1/namespaces/{namespace}/flunders/{name}",
			"/apis/wardle.example.com/v1alpha1/fischers",
		} {
			if !slices.Contains(paths, want) {
				return false, want + " is not in " + strings.Join(paths, "\n")
			}
		}
		slices.Sort(paths)
		if once := slices.Compact(slices.Clone(paths)); len(once) != len(paths) {
			t.Errorf("%d paths are %d", len(paths), len(once))
		}
		return true, ""
	})
}

// The index of OpenAPI v3 has the versions of all groups, and their documents have the paths.
func testOpenAPI(t *testing.T, c *chained) {
	versions, err := c.discover(t, false).OpenAPIV3WithContext(t.Context()).PathsWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string]string{
		"api/v1":                           "/api/v1/namespaces/{namespace}/configmaps",
		"apis/apiregistration.k8s.io/v1":   "/apis/apiregistration.k8s.io/v1/apiservices",
		"apis/chain.example.com/v1":        "/apis/chain.example.com/v1/namespaces/{namespace}/things/{name}/status",
		"apis/wardle.example.com/v1beta1":  "/apis/wardle.example.com/v1beta1/namespaces/{namespace}/flunders/{name}",
		"apis/wardle.example.com/v1alpha1": "/apis/wardle.example.com/v1alpha1/fischers",
	} {
		entry := versions[version]
		if entry == nil {
			t.Errorf("no document for %s among %d", version, len(versions))
			continue
		}
		text, err := entry.SchemaWithContext(t.Context(), openapi.ContentTypeOpenAPIV3PB)
		if err != nil || len(text) == 0 {
			t.Errorf("%s as protobuf: %d bytes, %v", version, len(text), err)
		}
		if text, err = entry.SchemaWithContext(t.Context(), "application/json"); err != nil {
			t.Errorf("%s: %v", version, err)
			continue
		}
		var document struct{ Paths map[string]any }
		if err := json.Unmarshal(text, &document); err != nil || document.Paths[want] == nil {
			t.Errorf("%s: %v, no %s in %d paths", version, err, want, len(document.Paths))
		}
	}
}
