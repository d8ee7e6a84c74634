package apiextensions_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// TestMetricsOfDefinitions: a changed definition keeps its series, and one that is deleted leaves none.
func TestMetricsOfDefinitions(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	const path = "/apis/shop.example.com/v1/namespaces/default/gadgets"
	create := func(name string) {
		c.want(http.StatusCreated, http.MethodPost, path, "{apiVersion: shop.example.com/v1, kind: Gadget, "+
			"metadata: {name: "+name+"}, spec: {size: 1}}")
	}
	create("a")
	const created = `etcd_requests_total{group="shop.example.com",operation="create",resource="gadgets"} `
	// The first creation also writes the record of the versions that objects are stored in.
	c.awaitMetrics("a creation is counted", func(text string) bool { return strings.Contains(text, created+"2\n") })
	c.want(http.StatusOK, http.MethodPatch, definitions+"/gadgets.shop.example.com",
		`{spec: {names: {shortNames: [gg]}}}`)
	c.await(http.StatusOK, "/apis/shop.example.com/v1", func(answer map[string]any) bool {
		resources, _ := answer["resources"].([]any)
		names := at(resources[0], "shortNames").([]any)
		return names[0] == "gg"
	})
	create("b")
	c.awaitMetrics("another one is, too", func(text string) bool { return strings.Contains(text, created+"3\n") })
	c.want(http.StatusOK, http.MethodDelete, definitions+"/gadgets.shop.example.com", "{}")
	c.awaitMetrics("no series of gadgets is left", func(text string) bool {
		return !strings.Contains(text, `resource="gadgets"`)
	})
}

// awaitMetrics scrapes until what the server exposes passes a test.
func (c client) awaitMetrics(what string, pass func(text string) bool) {
	c.t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(2 * time.Minute); ; <-tick.C {
		request, err := http.NewRequestWithContext(c.t.Context(), http.MethodGet, c.URL+"/metrics", nil)
		if err != nil {
			c.t.Fatal(err)
		}
		response, err := c.Client.Do(request)
		if err != nil {
			c.t.Fatal(err)
		}
		text, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil {
			c.t.Fatal(err)
		}
		if pass(string(text)) {
			return
		}
		if time.Now().After(end) {
			var lines []string
			for line := range strings.Lines(string(text)) {
				if strings.Contains(line, "gadgets") {
					lines = append(lines, line)
				}
			}
			c.t.Fatalf("%s: not within two minutes\n%s", what, strings.Join(lines, ""))
		}
	}
}
