package apiextensions_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/server"
)

// nested returns a schema of depth levels of objects and lists, as those of projects have.
func nested(depth int) map[string]any {
	description := strings.Repeat("It says what the field means, and what its default is. ", 2)
	switch {
	case depth == 0:
		return map[string]any{"type": "string", "description": description, "minLength": 1}
	case depth%3 == 0:
		return map[string]any{"type": "array", "description": description, "items": nested(depth - 1)}
	}
	properties := map[string]any{}
	for _, name := range []string{"enabled", "reference", "selector", "template"} {
		properties[name] = nested(depth - 1)
	}
	return map[string]any{"type": "object", "description": description, "properties": properties}
}

// numbered is a definition of 60 kB in a group of its own.
func numbered(b *testing.B, n int) []byte {
	b.Helper()
	group := fmt.Sprintf("shop%d.example.com", n)
	data, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "gadgets." + group},
		"spec": map[string]any{
			"group": group, "scope": "Namespaced", "names": map[string]any{"kind": "Gadget", "plural": "gadgets"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": nested(5), "status": nested(2)},
				}},
			}},
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	return data
}

// BenchmarkDefinitions creates definitions one after the other, and waits until the server serves each. Its allocations
// are those of the server and of its client.
func BenchmarkDefinitions(b *testing.B) {
	feature := &apiextensions.Feature{}
	s := apitest.StartWith(b, func(c *server.Config) {
		c.Verify, c.CheckCache = false, 0
		if err := c.Use(b.Context(), feature); err != nil {
			b.Fatal(err)
		}
	}, feature.Groups()...)
	send := func(method, path string, body string) int {
		request, err := http.NewRequestWithContext(b.Context(), method, s.URL+path, strings.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		response, err := s.Client.Do(request)
		if err != nil {
			b.Fatal(err)
		}
		defer response.Body.Close()
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			b.Fatal(err)
		}
		return response.StatusCode
	}
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		if code := send(http.MethodPost, definitions, string(numbered(b, n))); code != http.StatusCreated {
			b.Fatal(code)
		}
		for send(http.MethodGet, fmt.Sprintf("/apis/shop%d.example.com/v1", n), "") != http.StatusOK {
		}
	}
}
