package apiextensions_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/server"
	"sigs.k8s.io/yaml"
)

const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"

const gadget = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gadgets.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Gadget, plural: gadgets, shortNames: [gd]}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    additionalPrinterColumns: [{name: Size, type: integer, jsonPath: .spec.size}]
    selectableFields: [{jsonPath: .spec.color}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [size]
            x-kubernetes-validations: [{rule: self.size < 10, message: too large}]
            properties:
              size: {type: integer}
              color: {type: string, default: blue}
              replicas: {type: integer, default: 2}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

type client struct {
	*apitest.Server
	t *testing.T
}

func start(t *testing.T) client {
	t.Helper()
	feature := &apiextensions.Feature{}
	s := apitest.StartWith(t, func(c *server.Config) {
		if err := c.Use(t.Context(), feature); err != nil {
			t.Fatal(err)
		}
	}, feature.Groups()...)
	c := client{s, t}
	c.await(http.StatusOK, "/readyz", nil) // before, a path that isn't there yet is answered 503, and not 404
	return c
}

// do sends an object in YAML as JSON, or as a merge patch.
func (c client) do(method, path, body string) (code int, answer map[string]any) {
	c.t.Helper()
	data, err := yaml.YAMLToJSON([]byte(body))
	if err != nil {
		c.t.Fatal(err)
	}
	contentType := "application/json"
	if method == http.MethodPatch {
		contentType = "application/merge-patch+json"
	}
	return c.send(method, path, contentType, string(data))
}

func (c client) send(method, path, contentType, body string) (code int, answer map[string]any) {
	c.t.Helper()
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.URL+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Content-Type", contentType)
	response, err := c.Client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	_ = json.Unmarshal(text, &answer) // some answers are text
	return response.StatusCode, answer
}

func (c client) want(code int, method, path, body string) map[string]any {
	c.t.Helper()
	got, answer := c.do(method, path, body)
	if got != code {
		c.t.Fatalf("%s %s: %d %v, want %d", method, path, got, answer, code)
	}
	return answer
}

// await asks until the answer has a code and passes a test.
func (c client) await(code int, path string, pass func(answer map[string]any) bool) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 2*time.Minute)
	defer cancel()
	for {
		got, answer := c.do(http.MethodGet, path, "")
		if got == code && (pass == nil || pass(answer)) {
			return
		}
		select {
		case <-ctx.Done():
			c.t.Fatalf("GET %s: %d %v, want %d", path, got, answer, code)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// has reports whether a definition has a condition with a status.
func has(condition, status string) func(map[string]any) bool {
	return func(crd map[string]any) bool {
		text := at(crd, "status", "conditions")
		conditions, _ := text.([]any)
		for _, c := range conditions {
			if at(c, "type") == condition && at(c, "status") == status {
				return true
			}
		}
		return false
	}
}

func at(v any, path ...string) any {
	for _, name := range path {
		members, _ := v.(map[string]any)
		v = members[name]
	}
	return v
}

func (c client) establish(definition, name string) {
	c.t.Helper()
	c.want(http.StatusCreated, http.MethodPost, definitions, definition)
	c.await(http.StatusOK, definitions+"/"+name, has("Established", "True"))
}

// The client manages what it sent of a definition, and the server the status that it made of that.
func TestFieldManagers(t *testing.T) {
	c := start(t)
	c.want(http.StatusCreated, http.MethodPost, definitions+"?fieldManager=me", gadget)
	c.await(http.StatusOK, definitions+"/gadgets.shop.example.com", has("Established", "True"))
	c.want(http.StatusOK, http.MethodPatch, definitions+"/gadgets.shop.example.com?fieldManager=you",
		"spec: {names: {categories: [all]}}")
	crd := c.want(http.StatusOK, http.MethodGet, definitions+"/gadgets.shop.example.com", "")
	entries, _ := at(crd, "metadata", "managedFields").([]any)
	found := map[string]string{}
	for _, e := range entries {
		var names []string
		fields, _ := at(e, "fieldsV1").(map[string]any)
		for name := range fields {
			names = append(names, name)
		}
		found[fmt.Sprint(at(e, "manager"), at(e, "subresource"))] = strings.Join(names, " ")
	}
	want := map[string]string{"me<nil>": "f:spec", "you<nil>": "f:spec", "kube-apiserverstatus": "f:status"}
	if !maps.Equal(found, want) {
		t.Errorf("managed by %v, want %v", found, want)
	}
}

// A definition is served as soon as it says that it is established, and its objects have what it defines.
func TestLife(t *testing.T) {
	c := start(t)
	c.want(http.StatusNotFound, http.MethodGet, "/apis/shop.example.com", "")
	c.establish(gadget, "gadgets.shop.example.com")
	c.want(http.StatusOK, http.MethodGet, "/apis/shop.example.com/v1", "")
	const gadgets = "/apis/shop.example.com/v1/namespaces/ns/gadgets"
	head := "apiVersion: shop.example.com/v1\nkind: Gadget\nmetadata: {name: %s}\nspec: "
	object := func(name, spec string) string { return fmt.Sprintf(head, name) + spec }

	made := c.want(http.StatusCreated, http.MethodPost, gadgets, object("a", "{size: 3, nope: 1}"))
	if at(made, "spec", "color") != "blue" || at(made, "spec", "nope") != nil || at(made, "metadata", "generation") !=
		1.0 {
		t.Errorf("created %v", made)
	}
	refused := c.want(http.StatusUnprocessableEntity, http.MethodPost, gadgets, object("b", "{size: 30}"))
	if !strings.Contains(fmt.Sprint(refused["message"]), "too large") {
		t.Errorf("refused with %v", refused["message"])
	}
	c.want(http.StatusBadRequest, http.MethodPost, gadgets+"?fieldValidation=Strict", object("b", "{size: 3, nope: 1}"))
	c.want(http.StatusBadRequest, http.MethodPost, gadgets, "metadata: {name: b}")
	c.want(http.StatusOK, http.MethodPatch, gadgets+"/a/status", "status: {phase: done}")
	scaled := c.want(http.StatusOK, http.MethodPatch, gadgets+"/a/scale", "spec: {replicas: 5}")
	if at(scaled, "kind") != "Scale" || at(scaled, "spec", "replicas") != 5.0 {
		t.Errorf("scaled %v", scaled)
	}
	now := c.want(http.StatusOK, http.MethodGet, gadgets+"/a", "")
	if at(now, "status", "phase") != "done" || at(now, "spec", "replicas") != 5.0 ||
		at(now, "metadata", "generation") != 2.0 {
		t.Errorf("now %v", now)
	}
	for selector, want := range map[string]int{"blue": 1, "red": 0} {
		listed := c.want(http.StatusOK, http.MethodGet, gadgets+"?fieldSelector=spec.color%3D"+selector, "")
		items, _ := listed["items"].([]any)
		if len(items) != want {
			t.Errorf("%s: %v", selector, listed)
		}
		if want > 0 && at(items[0], "kind") != "Gadget" {
			t.Errorf("an item without a kind: %v", items[0])
		}
	}
	document := c.want(http.StatusOK, http.MethodGet, "/openapi/v3/apis/shop.example.com/v1", "")
	if at(document, "components", "schemas", "com.example.shop.v1.Gadget") == nil ||
		at(document, "paths", gadgetsPath) == nil {
		t.Errorf("the document lacks the kind or its paths")
	}
	c.want(http.StatusOK, http.MethodDelete, definitions+"/gadgets.shop.example.com", "")
	c.await(http.StatusNotFound, definitions+"/gadgets.shop.example.com", nil)
	c.await(http.StatusNotFound, gadgets, nil)
	c.await(http.StatusNotFound, "/apis/shop.example.com", nil)
	// What comes again has nothing of what was there.
	c.establish(gadget, "gadgets.shop.example.com")
	if listed := c.want(http.StatusOK, http.MethodGet, gadgets, ""); len(listed["items"].([]any)) > 0 {
		t.Errorf("left: %v", listed)
	}
}

const gadgetsPath = "/apis/shop.example.com/v1/namespaces/{namespace}/gadgets/{name}"

// Of two definitions that want a name, the first one has it until it is gone.
func TestNameConflict(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	other := strings.NewReplacer("gadgets", "widgets", "Gadget", "Widget").Replace(gadget)
	c.want(http.StatusCreated, http.MethodPost, definitions, other)
	c.await(http.StatusOK, definitions+"/widgets.shop.example.com", has("NamesAccepted", "False"))
	c.want(http.StatusNotFound, http.MethodGet, "/apis/shop.example.com/v1/widgets", "")
	c.want(http.StatusOK, http.MethodDelete, definitions+"/gadgets.shop.example.com", "")
	c.await(http.StatusOK, definitions+"/widgets.shop.example.com", has("Established", "True"))
	c.want(http.StatusOK, http.MethodGet, "/apis/shop.example.com/v1/widgets", "")
}

// A definition that isn't structural, or whose rules don't compile, is refused with the path of the fault.
func TestRefused(t *testing.T) {
	c := start(t)
	for change, want := range map[string]string{
		"size: {type: integer}|size: {}": "spec.validation.openAPIV3Schema.properties[spec].properties[size].type: " +
			"Required value",
		"self.size < 10|self.other < 10":              "undefined field 'other'",
		"default: blue|default: 3":                    "properties[color].default: Invalid value",
		"gadgets.shop.example.com|x.shop.example.com": `must be spec.names.plural+\".\"+spec.group`,
		"jsonPath: .spec.color|jsonPath: .spec.none":  "is an invalid path",
		"storage: true|storage: false":                "must have exactly one version marked as storage version",
		"group: shop.example.com|group: shop":         "should be a domain with at least one dot",
		"jsonPath: .spec.size|jsonPath: spec.size":    "must be a simple json path starting with .",
		"status: {type: object, x-kubernetes-preserve-unknown-fields: true}|status: {type: object, " +
			"x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, " +
			"x-kubernetes-embedded-resource: true, properties: {name: {type: string}}}}}": "must not be used inside " +
			"of resource meta",
		"scope: Namespaced|preserveUnknownFields: true\n  scope: Namespaced": "must be false in order to use defaults",
		"scope: Namespaced|scope: World":                                     `Unsupported value: "World"`,
	} {
		from, to, _ := strings.Cut(change, "|")
		code, answer := c.do(http.MethodPost, definitions, strings.Replace(gadget, from, to, 1))
		message := fmt.Sprint(answer["message"])
		if code != http.StatusUnprocessableEntity || !strings.Contains(message, strings.ReplaceAll(want, `\"`, `"`)) {
			t.Errorf("%s: %d %s", to, code, message)
		}
	}
}

// A definition may add to a group that the program serves, and not take a resource of it.
func TestGroupOfTheProgram(t *testing.T) {
	c := start(t)
	const approval = "metadata: {annotations: {api-approved.kubernetes.io: 'unapproved, a test'}, name: "
	in := func(plural string) string {
		return strings.NewReplacer("metadata: {name: ", approval, "gadgets", plural, "shop.example.com",
			"apiextensions.k8s.io").Replace(gadget)
	}
	c.want(http.StatusCreated, http.MethodPost, definitions, in("customresourcedefinitions"))
	name := definitions + "/customresourcedefinitions.apiextensions.k8s.io"
	c.await(http.StatusOK, name, has("Established", "False"))
	c.want(http.StatusOK, http.MethodDelete, name, "")
	c.await(http.StatusNotFound, name, nil)

	c.establish(in("gadgets"), "gadgets.apiextensions.k8s.io")
	c.want(http.StatusOK, http.MethodGet, "/apis/apiextensions.k8s.io/v1/gadgets", "")
	c.want(http.StatusOK, http.MethodGet, definitions, "")
	document := c.want(http.StatusOK, http.MethodGet, "/openapi/v3/apis/apiextensions.k8s.io/v1", "")
	for _, path := range []string{definitions, "/apis/apiextensions.k8s.io/v1/gadgets"} {
		if at(document, "paths", path) == nil {
			t.Errorf("the document of the group lacks %s", path)
		}
	}
	all := c.want(http.StatusOK, http.MethodGet, "/openapi/v2", "")
	if at(all, "paths", "/apis/apiextensions.k8s.io/v1/gadgets") == nil || at(all, "paths", definitions) == nil {
		t.Error("the OpenAPI v2 document lacks a path")
	}
}

// While a definition changes, every request is served by one of its states, whole: an object of a size that the
// definition has just begun to refuse, or to accept, is answered so, and nothing else.
func TestChangesUnderLoad(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	const gadgets = "/apis/shop.example.com/v1/namespaces/ns/gadgets"
	done := make(chan struct{})
	var writers sync.WaitGroup
	for id := range 4 {
		writers.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-done:
					return
				default:
				}
				body := fmt.Sprintf("{apiVersion: shop.example.com/v1, kind: Gadget, metadata: {name: g%d-%d}, "+
					"spec: {size: 7}}", id, i)
				if code, answer := c.do(http.MethodPost, gadgets, body); code != http.StatusCreated &&
					code != http.StatusUnprocessableEntity {
					t.Errorf("%d %v", code, answer)
					return
				}
				if code, answer := c.do(http.MethodGet, gadgets+"?limit=3", ""); code != http.StatusOK {
					t.Errorf("%d %v", code, answer)
					return
				}
			}
		})
	}
	for i := range 10 {
		limit := []int{5, 10}[i%2]
		c.want(http.StatusOK, http.MethodPatch, definitions+"/gadgets.shop.example.com", strings.Replace(patch(t),
			"self.size < 10", fmt.Sprintf("self.size < %d", limit), 1))
	}
	close(done)
	writers.Wait()
}

// patch is a patch that sets the versions of the definition.
func patch(t *testing.T) string {
	var crd struct {
		Spec struct {
			Versions []any `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal([]byte(gadget), &crd); err != nil {
		t.Fatal(err)
	}
	data, err := json.Marshal(crd)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A watch ends when its definition changes, and goes on from its revision with the new one.
func TestWatchGoesOn(t *testing.T) {
	c := start(t)
	c.establish(gadget, "gadgets.shop.example.com")
	const gadgets = "/apis/shop.example.com/v1/namespaces/ns/gadgets"
	create := func(name string) {
		c.want(http.StatusCreated, http.MethodPost, gadgets,
			fmt.Sprintf("{apiVersion: shop.example.com/v1, kind: Gadget, metadata: {name: %s}, spec: {size: 1}}", name))
	}
	listed := c.want(http.StatusOK, http.MethodGet, gadgets, "")
	revision := fmt.Sprint(at(listed, "metadata", "resourceVersion"))
	events := make(chan string)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	defer watching.Wait()
	defer cancel()
	watching.Go(func() {
		for ctx.Err() == nil {
			revision = c.watch(ctx, gadgets, revision, events)
		}
	})
	for i := range 3 {
		create(fmt.Sprintf("before%d", i))
		if got := <-events; got != fmt.Sprintf("before%d", i) {
			t.Fatalf("event of %s", got)
		}
		c.want(http.StatusOK, http.MethodPatch, definitions+"/gadgets.shop.example.com",
			strings.Replace(patch(t), "self.size < 10", fmt.Sprintf("self.size < %d", 20+i), 1))
		create(fmt.Sprintf("after%d", i))
		if got := <-events; got != fmt.Sprintf("after%d", i) {
			t.Fatalf("event of %s", got)
		}
	}
}

// watch sends the names of added objects until the watch ends, and returns the revision of the last one.
func (c client) watch(ctx context.Context, path, revision string, events chan<- string) string {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, c.URL+path+"?watch=true&resourceVersion="+revision,
		http.NoBody)
	if err != nil {
		return revision
	}
	response, err := c.Client.Do(request)
	if err != nil {
		return revision
	}
	defer response.Body.Close()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() {
		var event map[string]any
		if json.Unmarshal(lines.Bytes(), &event) != nil || event["type"] != "ADDED" {
			continue
		}
		revision = fmt.Sprint(at(event, "object", "metadata", "resourceVersion"))
		select {
		case events <- fmt.Sprint(at(event, "object", "metadata", "name")):
		case <-ctx.Done():
		}
	}
	return revision
}
