package apiextensions_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/server"
)

// A definition that an older server accepted can still be changed, if it has a fault that is refused today.
func TestFaultsThatWereAccepted(t *testing.T) {
	const schema = `"validation":{"openAPIV3Schema":{"type":"object","properties":{` +
		`"size":{"type":"integer","default":3}}}},`
	properties := func(more string) string { return strings.Replace(schema, `"size":{`, more+`,"size":{`, 1) }
	for what, with := range map[string]string{
		"no schema": "",
		"types":     properties(`"a":{"type":"bogus"}`),
		"sets":      properties(`"a":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object"}}`),
		"null in set": properties(`"a":{"type":"array","x-kubernetes-list-type":"set",` +
			`"items":{"type":"string","nullable":true}}`),
		"keys": properties(`"a":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["k"],` +
			`"items":{"type":"object","properties":{"k":{"type":"string"}}}}`),
		"structure": properties(`"a":{}`),
	} {
		feature := &apiextensions.Feature{}
		s := apitest.StartWith(t, func(c *server.Config) {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
			key := "/registry/apiextensions.k8s.io/customresourcedefinitions/gadgets.shop.example.com"
			before, after, found := strings.Cut(strings.ReplaceAll(stored, "\n", ""), schema)
			if !found {
				t.Fatal("the stored definition has another schema")
			}
			value := before + with + after
			if _, err := c.Backend.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
				t.Fatal(err)
			}
		}, feature.Groups()...)
		c := client{s, t}
		c.await(http.StatusOK, definitions+"/gadgets.shop.example.com", nil)
		change := `metadata: {labels: {app: x}}`
		if with != "" {
			crd := c.want(http.StatusOK, http.MethodGet, definitions+"/gadgets.shop.example.com", "")
			versions := at(crd, "spec", "versions").([]any)
			at(versions[0], "schema", "openAPIV3Schema", "properties", "size").(map[string]any)["default"] = 4
			data, err := json.Marshal(map[string]any{"spec": map[string]any{"versions": versions}})
			if err != nil {
				t.Fatal(err)
			}
			change = string(data)
		}
		code, answer := c.do(http.MethodPatch, definitions+"/gadgets.shop.example.com", change)
		if code != http.StatusOK {
			t.Errorf("%s: %d %v", what, code, answer["message"])
		}
	}
}
