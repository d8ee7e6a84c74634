package main

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

const tides = "/apis/fleet.example.com/v1/namespaces/default/tides"

func TestViews(t *testing.T) {
	b := start(t)
	b.says("hamburg   320", "get tides")
	b.says("husum   140", "get tides -l water=low")
	b.says("tide.fleet.example.com/husum", "get tides -o name --field-selector harbour=husum")
	b.says("heightCentimetres: 140", "get tide husum -o yaml")
	b.says("nodes", "get --raw /apis/fleet.example.com/v1/tides?fieldSelector=harbour%3Dnodes&pretty=true -v=6")
	var page struct {
		Metadata struct{ Continue string }
		Items    []struct{ Harbour string }
	}
	_, body := b.ask(http.MethodGet, tides+"?limit=1", "")
	if err := json.Unmarshal([]byte(body), &page); err != nil || len(page.Items) != 1 ||
		page.Items[0].Harbour != "hamburg" || page.Metadata.Continue == "" {
		t.Fatalf("%v %s", err, body)
	}
	_, body = b.ask(http.MethodGet, tides+"?limit=1&continue="+page.Metadata.Continue, "")
	if !strings.Contains(body, `"harbour":"husum"`) || strings.Contains(body, "hamburg") ||
		strings.Contains(body, `"continue"`) {
		t.Errorf("the second page: %s", body)
	}
	for path, want := range map[string]int{
		tides + "/kiel":                          http.StatusNotFound,
		"/apis/fleet.example.com/v1/tides/husum": http.StatusNotFound,
	} {
		if code, body := b.ask(http.MethodGet, path, ""); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodDelete} {
		if code, body := b.ask(method, tides, `{}`); code != http.StatusMethodNotAllowed {
			t.Errorf("%s: %d %s", method, code, body)
		}
	}
}

func TestWatchView(t *testing.T) {
	b := start(t)
	client, err := rest.HTTPClientFor(b.config)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, b.config.Host+tides+
		"?watch=1&labelSelector=water%3Dhigh", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	events := bufio.NewScanner(response.Body)
	next := func(want ...string) {
		t.Helper()
		if !events.Scan() {
			t.Fatal(events.Err())
		}
		for _, text := range want {
			if !strings.Contains(events.Text(), text) {
				t.Errorf("without %s: %s", text, events.Text())
			}
		}
	}
	next(`"type":"ADDED"`, "hamburg", `"heightCentimetres":320`)
	b.tides.Set("default", "husum", 230)
	next(`"type":"ADDED"`, "husum")
	b.tides.Set("default", "husum", 231)
	next(`"type":"MODIFIED"`, "husum")
	b.tides.Set("default", "husum", 90)
	next(`"type":"DELETED"`, "husum")
	b.tides.Set("other", "cuxhaven", 400)
	b.tides.Set("default", "hamburg", 321)
	next(`"type":"MODIFIED"`, "hamburg")
}

func TestReview(t *testing.T) {
	b := start(t)
	const path = "/apis/fleet.example.com/v1/passagereviews"
	answer := b.post(path, `{"apiVersion":"fleet.example.com/v1","kind":"PassageReview",`+
		`"spec":{"harbour":"default/hamburg","draughtCentimetres":300}}`, http.StatusCreated)
	if !strings.Contains(answer, `"status":{"allowed":true,"reason":"the water is 320 cm high"}`) {
		t.Error(answer)
	}
	b.post(path, `{"spec":{"harbour":"default/hamburg","draughtCentimetres":-1}}`, http.StatusUnprocessableEntity)
	if code, _ := b.ask(http.MethodGet, path, ""); code != http.StatusMethodNotAllowed {
		t.Errorf("a list of reviews: %d", code)
	}
	if code, _ := b.ask(http.MethodGet, path+"/x", ""); code != http.StatusNotFound {
		t.Errorf("a review by its name: %d", code)
	}
}

func TestDiscovery(t *testing.T) {
	b := start(t)
	_, body := b.ask(http.MethodGet, "/apis/fleet.example.com/v1", "")
	for _, want := range []string{
		`{"name":"ships/scale","singularName":"","namespaced":true,"group":"autoscaling","version":"v1",` +
			`"kind":"Scale","verbs":["get","patch","update"]}`,
		`{"name":"ships/eviction","singularName":"","namespaced":true,"group":"policy","version":"v1",` +
			`"kind":"Eviction","verbs":["create"]}`,
		`{"name":"ships/docking","singularName":"","namespaced":true,"kind":"Docking","verbs":["create"]}`,
		`{"name":"ships/clearance","singularName":"","namespaced":true,"kind":"Ship","verbs":["get","patch","update"]}`,
		`{"name":"ships/exec","singularName":"","namespaced":true,"kind":"Ship","verbs":["create","get"]}`,
		`{"name":"ships/log","singularName":"","namespaced":true,"kind":"Ship","verbs":["get"]}`,
		`{"name":"ships/proxy","singularName":"","namespaced":true,"kind":"Ship","verbs":["create","delete","get",` +
			`"patch","update"]}`,
		`{"name":"tides","singularName":"tide","namespaced":true,"kind":"Tide","verbs":["get","list","watch"]}`,
		`{"name":"passagereviews","singularName":"passagereview","namespaced":false,"kind":"PassageReview",` +
			`"verbs":["create"]}`,
	} {
		if !strings.Contains(body, want) {
			t.Errorf("discovery has no %s in\n%s", want, body)
		}
	}
	if strings.Contains(body, "dockings") {
		t.Error("a kind that is posted to a subresource is a resource of its own")
	}
	_, body = b.ask(http.MethodGet, "/openapi/v3/apis/fleet.example.com/v1", "")
	var document struct {
		Paths map[string]map[string]any
	}
	if err := json.Unmarshal([]byte(body), &document); err != nil {
		t.Fatal(err)
	}
	const item = "/apis/fleet.example.com/v1/namespaces/{namespace}/ships/{name}"
	for path, methods := range map[string][]string{
		item + "/scale": {"get", "put", "patch"}, item + "/docking": {"post"}, item + "/log": {"get"},
		item + "/exec":  {"get", "post"},
		item + "/proxy": {"options", "delete"}, item + "/proxy/{path}": {"get", "head"}, item + "/clearance": {"patch"},
		"/apis/fleet.example.com/v1/passagereviews":               {"post"},
		"/apis/fleet.example.com/v1/namespaces/{namespace}/tides": {"get"},
	} {
		for _, method := range methods {
			if document.Paths[path][method] == nil {
				t.Errorf("OpenAPI has no %s of %s", method, path)
			}
		}
	}
	if document.Paths["/apis/fleet.example.com/v1/passagereviews"]["get"] != nil {
		t.Error("OpenAPI has a list of reviews")
	}
	b.says("heightCentimetres", "explain tide")
}
