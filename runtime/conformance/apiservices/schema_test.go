package apiservices

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin/apiregistration/wiring"
	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-aggregator/pkg/generated/openapi"
	"k8s.io/kube-openapi/pkg/builder3"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

const model = "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1."

// The schemas are the same but for descriptions, and for the groups that only a served document names.
func TestSchema(t *testing.T) {
	gz, err := gzip.NewReader(bytes.NewReader(wiring.Group().OpenAPI["v1"].Gzip))
	if err != nil {
		t.Fatal(err)
	}
	var document struct {
		Components struct {
			Schemas map[string]any `json:"schemas"`
		} `json:"components"`
	}
	if err := json.NewDecoder(gz).Decode(&document); err != nil {
		t.Fatal(err)
	}
	got, want := map[string]any{}, map[string]any{}
	for name, schema := range document.Components.Schemas {
		if strings.HasPrefix(name, model) {
			got[name] = undescribed(schema)
		}
	}
	for name, schema := range original(t) {
		if strings.HasPrefix(name, model) {
			want[name] = undescribed(schema)
		}
	}
	if len(want) != 6 {
		t.Errorf("%d schemas, want 6", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// original returns the schemas that kube-apiserver serves for kube-aggregator's types.
func original(t *testing.T) (schemas map[string]any) {
	t.Helper()
	definitions := openapi.GetOpenAPIDefinitions(func(string) spec.Ref { return spec.Ref{} })
	var names []string
	for name := range definitions {
		if strings.HasPrefix(name, model) {
			names = append(names, name)
		}
	}
	document, err := builder3.BuildOpenAPIDefinitionsForResources(&common.OpenAPIV3Config{
		Info: &spec.Info{}, GetDefinitions: openapi.GetOpenAPIDefinitions,
	}, names...)
	if err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(&spec3.Components{Schemas: document})
	if err != nil {
		t.Fatal(err)
	}
	components := struct{ Schemas map[string]any }{}
	if err := json.Unmarshal(data, &components); err != nil {
		t.Fatal(err)
	}
	return components.Schemas
}

// undescribed returns a schema without descriptions and groups.
func undescribed(schema any) any {
	switch schema := schema.(type) {
	case map[string]any:
		out := map[string]any{}
		for key, value := range schema {
			if _, text := value.(string); text && key == "description" || strings.HasPrefix(key, "x-kubernetes-group") {
				continue
			}
			out[key] = undescribed(value)
		}
		return out
	case []any:
		out := make([]any, len(schema))
		for i := range schema {
			out[i] = undescribed(schema[i])
		}
		return out
	}
	return schema
}
