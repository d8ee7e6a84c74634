package document

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/kube-openapi/pkg/spec3"

	"apigen.dev/generator/internal/model"
)

// TestMergeable: a document offers strategic merge patches for exactly those kinds for which clients can compute them
// by it.
func TestMergeable(t *testing.T) {
	inner := &model.Type{Name: "Inner", Package: &model.Package{Path: "example.com/shop/apis/shop/v1", Name: "v1"},
		Form:   model.Struct,
		Fields: []*model.Field{field("a", predeclared("string"))}}
	written := func(tag string) *model.Type {
		f := field("a", predeclared("string"))
		f.Tag = tag
		return &model.Type{Name: "Written", Package: inner.Package, Form: model.Struct, Fields: []*model.Field{f},
			Methods: map[string]*model.Func{"MarshalJSON": {}}}
	}
	message := written(`json:"a"`)
	message.Methods["ProtoReflect"] = &model.Func{}
	merged := field("x", sliceOf(named("k8s.io/apimachinery/pkg/runtime", "runtime", "RawExtension", model.Struct)))
	merged.Schema.PatchStrategy, merged.Schema.PatchMergeKey = "merge", "name"
	for name, c := range map[string]struct {
		field    *model.Field
		old, new string
		want     bool
	}{
		"struct":         {field("x", inner), `{"a":"1"}`, `{"a":"2"}`, true},
		"pointer":        {field("x", pointerTo(inner)), `{"a":"1"}`, `{"a":"2"}`, true},
		"list":           {field("x", sliceOf(inner)), `[{"a":"1"}]`, `[{"a":"2"}]`, true},
		"strings":        {field("x", mapOf(predeclared("string"))), `{"k":"1"}`, `{"k":"2"}`, true},
		"bytes":          {field("x", mapOf(sliceOf(predeclared("byte")))), `{"k":"MQ=="}`, `{"k":"Mg=="}`, true},
		"map of structs": {field("x", mapOf(inner)), `{"k":{"a":"1"}}`, `{"k":{"a":"2"}}`, false},
		"map of lists":   {field("x", mapOf(sliceOf(predeclared("string")))), `{"k":["1"]}`, `{"k":["2"]}`, false},
		"any": {field("x", &model.Type{Form: model.Interface}), `{"k":{"a":"1"}}`, `{"k":{"a":"2"}}`,
			false},
		"raw": {field("x",
			named("k8s.io/apimachinery/pkg/runtime", "runtime", "RawExtension",
				model.Struct)), `{"k":{"a":1}}`, `{"k":{"a":2}}`, false},
		"list of any":      {field("x", sliceOf(&model.Type{Form: model.Interface})), `[{"k":1}]`, `[{"k":2}]`, true},
		"merged list":      {merged, `[{"name":"n","k":{"a":1}}]`, `[{"name":"n","k":{"a":2}}]`, false},
		"own JSON":         {field("x", written("")), `{"k":{"a":1}}`, `{"k":{"a":2}}`, false},
		"own JSON, tagged": {field("x", written(`json:"a"`)), `{"a":"1"}`, `{"a":"2"}`, true},
		"message":          {field("x", message), `{"k":{"a":1}}`, `{"k":{"a":2}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			doc := parsed(t, sample(c.field))
			operation := doc.Paths.Paths["/apis/shop.example.com/v1/zones/{name}"].Patch
			_, offered := operation.RequestBody.Content["application/strategic-merge-patch+json"]
			if offered != c.want {
				t.Errorf("offered is %v", offered)
			}
			kind := "com.example.shop.apis.shop.v1.Zone"
			patch := func(value string) []byte { return []byte(`{"spec":{"x":` + value + `}}`) }
			_, err := strategicpatch.CreateThreeWayMergePatch(patch(c.old), patch(c.new), patch(c.old),
				strategicpatch.PatchMetaFromOpenAPIV3{SchemaList: doc.Components.Schemas,
					Schema: doc.Components.Schemas[kind]}, true)
			if (err == nil) != c.want {
				t.Errorf("a client gets %v", err)
			}
		})
	}
}

func parsed(t *testing.T, p *model.Program) *spec3.OpenAPI {
	t.Helper()
	var doc spec3.OpenAPI
	if err := json.Unmarshal(documentOf(p), &doc); err != nil {
		t.Fatal(err)
	}
	return &doc
}
