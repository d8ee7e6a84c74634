package apiextensions_test

import (
	"net/http"
	"strings"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/internal/testbed"
	"apigen.dev/runtime/server"
)

func startWithOutage(t *testing.T) (c client, outage *testbed.Outage) {
	t.Helper()
	feature := &apiextensions.Feature{}
	s := apitest.StartWith(t, func(c *server.Config) {
		outage = testbed.NewOutage(c.Backend)
		c.Backend = outage
		if err := c.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}, feature.Groups()...)
	c = client{s, t}
	c.await(http.StatusOK, "/readyz", nil)
	return c, outage
}

const (
	gadgetDefinition = definitions + "/gadgets.shop.example.com"
	versionsOfGadget = "storageversions/gadgets."
)

// TestChangeWhileStorageIsAway: a definition that changes while storage is away is served as it was, and as it is once
// storage is back.
func TestChangeWhileStorageIsAway(t *testing.T) {
	c, outage := startWithOutage(t)
	c.establish(gadget, "gadgets.shop.example.com")
	c.want(http.StatusCreated, http.MethodPost, gadgets,
		"{apiVersion: shop.example.com/v1, kind: Gadget, metadata: {name: a}, spec: {size: 1}}")
	outage.Reads(versionsOfGadget)
	c.want(http.StatusOK, http.MethodPatch, gadgetDefinition, strings.Replace(gadget[strings.Index(gadget, "spec:"):],
		"  size: {type: integer}", "  more: {type: string}\n              size: {type: integer}", 1))
	outage.Await(t)
	outage.Await(t) // the server has installed what the first failure left
	c.want(http.StatusOK, http.MethodGet, gadgets, "")
	c.await(http.StatusOK, gadgetDefinition, has("Established", "True"))
	outage.End()
	c.await(http.StatusOK, gadgets+"/a", func(map[string]any) bool {
		_, answer := c.do(http.MethodPatch, gadgets+"/a", "{spec: {more: kept}}")
		return at(answer, "spec", "more") == "kept"
	})
}

// TestDefinitionWhileStorageIsAway: a definition that comes while storage is away is established and served once
// storage is back.
func TestDefinitionWhileStorageIsAway(t *testing.T) {
	for what, begin := range map[string]func(*testbed.Outage){
		"opening": func(o *testbed.Outage) { o.Reads(versionsOfGadget) },
		"status":  func(o *testbed.Outage) { o.Changes("customresourcedefinitions/gadgets.") },
	} {
		t.Run(what, func(t *testing.T) {
			c, outage := startWithOutage(t)
			begin(outage)
			c.want(http.StatusCreated, http.MethodPost, definitions, gadget)
			outage.Await(t)
			outage.Await(t)
			outage.End()
			c.await(http.StatusOK, gadgetDefinition, has("Established", "True"))
			c.await(http.StatusOK, gadgets, nil)
		})
	}
}
