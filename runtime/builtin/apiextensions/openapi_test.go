package apiextensions_test

import (
	"encoding/json"
	"net/http"
	"testing"
)

// pipe has each form of int-or-string, and embedded objects.
const pipe = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pipes.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Pipe, plural: pipes}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              bare: {x-kubernetes-int-or-string: true}
              written: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
              within:
                x-kubernetes-int-or-string: true
                allOf: [{anyOf: [{type: integer}, {type: string}]}, {maximum: 3}]
              another: {x-kubernetes-int-or-string: true, anyOf: [{maximum: 3}, {pattern: a}]}
              many: {type: array, items: {x-kubernetes-int-or-string: true}}
              object:
                type: object
                x-kubernetes-embedded-resource: true
                required: [spec]
                properties: {spec: {type: object}}
              any: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

// TestPublishedSchemas: OpenAPI v3 says of int-or-string and of embedded objects what definitions needn't say, as
// kube-apiserver's does. v2 has no types that are one of several.
func TestPublishedSchemas(t *testing.T) {
	c := start(t)
	c.establish(pipe, "pipes.shop.example.com")
	const types = `[{"type":"integer"},{"type":"string"}]`
	const is = `"x-kubernetes-int-or-string":true`
	for path, want := range map[string]map[string]string{
		"/openapi/v3/apis/shop.example.com/v1": {
			"bare":    `{"anyOf":` + types + `,` + is + `}`,
			"written": `{"anyOf":` + types + `,` + is + `}`,
			"within":  `{"allOf":[{"anyOf":` + types + `},{"maximum":3}],` + is + `}`,
			"another": `{"allOf":[{"anyOf":` + types + `}],"anyOf":[{"maximum":3},{"pattern":"a"}],` + is + `}`,
			"many":    `{"items":{"anyOf":` + types + `,` + is + `},"type":"array"}`,
			"object":  `["spec","kind","apiVersion"]`,
			"any":     `["kind","apiVersion"]`,
		},
		"/openapi/v2": {
			"bare": `{` + is + `}`, "written": `{` + is + `}`, "within": `{` + is + `}`, "another": `{` + is + `}`,
			"many": `{"items":{` + is + `},"type":"array"}`, "object": `["spec","kind","apiVersion"]`, "any": `null`,
		},
	} {
		document := c.want(http.StatusOK, http.MethodGet, path, "")
		schemas := at(document, "components", "schemas")
		if schemas == nil {
			schemas = document["definitions"]
		}
		for name, schema := range want {
			got := at(schemas, "com.example.shop.v1.Pipe", "properties", "spec", "properties", name)
			if name == "object" || name == "any" {
				got = at(got, "required")
			}
			if text, _ := json.Marshal(got); string(text) != schema {
				t.Errorf("%s: %s is\n%s, want\n%s", path, name, text, schema)
			}
		}
	}
}
