package apiextensions_test

import (
	"fmt"
	"net/http"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/server"
)

// A definition as kube-apiserver stores it, in version v1beta1.
const stored = `{"kind":"CustomResourceDefinition","apiVersion":"apiextensions.k8s.io/v1beta1","metadata":{
"name":"gadgets.shop.example.com","uid":"8b7a5f0e-3f0c-4a3c-9c0e-0d2d3f1a2b3c","generation":1,
"creationTimestamp":"2026-01-02T03:04:05Z"},"spec":{"group":"shop.example.com","version":"v1","names":{
"plural":"gadgets","singular":"gadget","kind":"Gadget","listKind":"GadgetList"},"scope":"Namespaced",
"validation":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer","default":3}}}},
"versions":[{"name":"v1","served":true,"storage":true}],"conversion":{"strategy":"None"},
"preserveUnknownFields":false},"status":{"conditions":[
{"type":"NamesAccepted","status":"True","lastTransitionTime":"2026-01-02T03:04:05Z","reason":"NoConflicts",
"message":"no conflicts found"},{"type":"Established","status":"True",
"lastTransitionTime":"2026-01-02T03:04:05Z","reason":"InitialNamesAccepted",
"message":"the initial names have been accepted"}],"acceptedNames":{"plural":"gadgets","singular":"gadget",
"kind":"Gadget","listKind":"GadgetList"},"storedVersions":["v1"]}}`

// What a kube-apiserver stored is served by a server in its place.
func TestUpgrade(t *testing.T) {
	feature := &apiextensions.Feature{}
	s := apitest.StartWith(t, func(c *server.Config) {
		if err := c.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
		for key, value := range map[string]string{
			"/registry/apiextensions.k8s.io/customresourcedefinitions/gadgets.shop.example.com": stored,
			"/registry/shop.example.com/gadgets/ns/a": `{"apiVersion":"shop.example.com/v1","kind":"Gadget",` +
				`"metadata":{"name":"a","namespace":"ns","uid":"x","generation":1}}`,
		} {
			if _, err := c.Backend.Put(t.Context(), key, []byte(value), 0, 0); err != nil {
				t.Fatal(err)
			}
		}
	}, feature.Groups()...)
	c := client{s, t}
	c.await(http.StatusOK, "/apis/shop.example.com/v1/namespaces/ns/gadgets/a", func(object map[string]any) bool {
		return at(object, "size") == 3.0
	})
	crd := c.want(http.StatusOK, http.MethodGet, definitions+"/gadgets.shop.example.com", "")
	versions, _ := at(crd, "spec", "versions").([]any)
	if len(versions) != 1 || at(versions[0], "schema", "openAPIV3Schema", "type") != "object" {
		t.Errorf("the definition as v1: %v", versions)
	}
	c.want(http.StatusOK, http.MethodPatch, definitions+"/gadgets.shop.example.com",
		fmt.Sprintf("metadata: {labels: {app: %q}}", "x"))
	c.await(http.StatusOK, "/readyz", nil)
	c.want(http.StatusNotFound, http.MethodGet, "/apis/apiextensions.k8s.io/v1beta1", "")
}
