package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/http/apigroups"
	"apigen.dev/runtime/internal/jsondoc"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// gadget is another Go type than widget.
type gadget struct{ widget }

// DeepCopyObject implements runtime.Object.
func (g *gadget) DeepCopyObject() runtime.Object {
	return &gadget{*g.widget.DeepCopyObject().(*widget)}
}

// twoKinds are widgets and gadgets in three versions; the oldest is stored.
func twoKinds() registry.Group {
	group := widgetsIn("v1", "v1beta1", "v1alpha1")
	group.Resources = []registry.Resource{
		resourceOf(group, "Widget", "widgets", func() *widget { return new(widget) }),
		resourceOf(group, "Gadget", "gadgets", func() *gadget { return new(gadget) }),
	}
	return group
}

func resourceOf[T api.Object](group registry.Group, kind, plural string, newObject func() T) registry.Resource {
	var served []codec.Version[T]
	for _, name := range group.Versions {
		served = append(served, codec.VersionOf(api.VersionInfo{Name: name}, codec.Conversion[T, T]{New: newObject}))
	}
	return registry.New(registry.Definition[T]{
		Group: group.Name, Names: api.Names{Kind: kind, Plural: plural}, Scope: api.Namespaced, New: newObject,
		Versions: served, Storage: "v1alpha1",
	})
}

func TestRuntimeConfigNamesWhatThereIs(t *testing.T) {
	for flag, want := range map[string]string{
		"api/all=false":                           "invalid runtime-config with only api/all=false",
		"api/beta=no":                             "invalid value api/beta=no",
		"other.example.com/v1=true":               `unknown api group "other.example.com"`,
		"shop.example.com/v9=true":                "group version shop.example.com/v9 has not been registered",
		"shop.example.com/v1=maybe":               "invalid value of shop.example.com/v1: maybe",
		"shop.example.com/v1/Widgets=true":        `shop.example.com/v1 has no resource "Widgets"`,
		"shop.example.com/v1/widgets/status=true": "invalid key shop.example.com/v1/widgets/status",
		"v1=true":                `unknown api group ""`,
		"shop.example.com/=true": "invalid key shop.example.com/",
		"shop.example.com/v1/gizmos=false,api/ga=": `invalid value api/ga=` + "\n" +
			`runtime-config: shop.example.com/v1 has no resource "gizmos"`,
	} {
		_, err := apigroups.NewSwitches(apigroups.Parse(strings.Split(flag, ",")), []registry.Group{twoKinds()})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", flag, err, want)
		}
	}
}

func TestRuntimeConfigDecides(t *testing.T) {
	core := registry.Group{Versions: []string{"v1"}}
	for flag, want := range map[string]string{
		"": "v1/widgets v1/gadgets v1beta1/widgets v1beta1/gadgets " +
			"v1alpha1/widgets v1alpha1/gadgets",
		"api/alpha=false":             "v1/widgets v1/gadgets v1beta1/widgets v1beta1/gadgets",
		"api/all=false,api/ga=true":   "v1/widgets v1/gadgets",
		"api/all=true,api/beta=false": "v1/widgets v1/gadgets v1alpha1/widgets v1alpha1/gadgets",
		"api/ga=false,shop.example.com/v1=true": "v1/widgets v1/gadgets v1beta1/widgets v1beta1/gadgets " +
			"v1alpha1/widgets v1alpha1/gadgets",
		"api/all=false,shop.example.com/v1beta1/gadgets": "v1beta1/gadgets",
		"shop.example.com/v1/widgets=false,shop.example.com/v1alpha1=0,shop.example.com/v1beta1=": "v1/gadgets " +
			"v1beta1/widgets v1beta1/gadgets",
		"api/v1=false,v1=true,/v1=true": "v1/widgets " +
			"v1/gadgets v1beta1/widgets v1beta1/gadgets v1alpha1/widgets v1alpha1/gadgets",
	} {
		group := twoKinds()
		e, err := apigroups.NewSwitches(apigroups.Parse(strings.Split(flag, ",")), []registry.Group{group, core})
		if err != nil {
			t.Errorf("%s: %v", flag, err)
			continue
		}
		var got []string
		for _, version := range group.Versions {
			for _, resource := range group.Resources {
				if e.Serves(resource.Info(), version) {
					got = append(got, version+"/"+resource.Info().Names.Plural)
				}
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s:\ngot  %v\nwant %s", flag, got, want)
		}
	}
}

// TestSwitchedOff: what is off is nowhere, and what is stored stays what it was.
func TestSwitchedOff(t *testing.T) {
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	group := twoKinds()
	group.OpenAPI = map[string]api.Document{}
	for _, version := range group.Versions {
		group.OpenAPI[version] = jsondoc.New([]byte(strings.ReplaceAll(`{"openapi":"3.0.0","paths":{
			"/apis/shop.example.com/VERSION/":{},
			"/apis/shop.example.com/VERSION/namespaces/{namespace}/widgets":{
				"get":{"$ref":"#/components/schemas/Widget"}},
			"/apis/shop.example.com/VERSION/namespaces/{namespace}/gadgets/{name}":{
				"get":{"$ref":"#/components/schemas/Gadget"}}},
			"components":{"schemas":{
				"Widget":{"properties":{"a":{"$ref":"#/components/schemas/Part"}}},"Gadget":{},"Part":{}}}}`,
			"VERSION", version)))
	}
	program := serving(group)
	program.Embedded = opens(func(context.Context, string) (storage.Backend, error) { return kept{backend}, nil })
	s := startProgram(t, program, t.TempDir(), "--runtime-config=api/alpha=false",
		"--runtime-config=shop.example.com/v1/gadgets=false")
	client := s.client(t)
	root := s.url + "/apis/shop.example.com"
	if code, body := send(t, client, "POST", root+"/v1/namespaces/n/widgets",
		`{"metadata":{"name":"a"}}`); code != 201 {
		t.Fatal(code, body)
	}
	for path, want := range map[string]int{
		"/v1/namespaces/n/widgets/a": 200, "/v1beta1/namespaces/n/widgets/a": 200,
		"/v1alpha1/namespaces/n/widgets/a": 404,
		"/v1/gadgets":                      404, "/v1beta1/gadgets": 200, "/v1alpha1": 404, "/v1": 200,
	} {
		if code, body := get(t, client, root+path); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	_, body := get(t, client, root)
	var described metav1.APIGroup
	if err := json.Unmarshal([]byte(body), &described); err != nil || len(described.Versions) != 2 ||
		described.PreferredVersion.Version != "v1" {
		t.Errorf("%s", body)
	}
	_, v1 := get(t, client, root+"/v1")
	_, aggregated := get(t, client, s.url+"/openapi/v3")
	if strings.Contains(v1, "gadgets") || !strings.Contains(v1, "widgets") ||
		strings.Contains(aggregated, "v1alpha1") || !strings.Contains(aggregated, "v1beta1") {
		t.Errorf("%s\n%s", v1, aggregated)
	}
	_, document := get(t, client, s.url+"/openapi/v3/apis/shop.example.com/v1")
	if strings.Contains(document, "gadgets") || strings.Contains(document, "Gadget") ||
		!strings.Contains(document, `"Part"`) {
		t.Error(document)
	}
	s.end(t)
	kv, _, err := backend.Get(t.Context(), "/registry/shop.example.com/widgets/n/a", storage.GetOptions{})
	if err != nil || kv == nil || !strings.Contains(string(kv.Value), "shop.example.com/v1alpha1") {
		t.Errorf("%v %v", kv, err)
	}
}

// TestGroupInParts: kinds of one group that come from two places are one group, with one document, and switches name
// both. Two parts with the same kind are an error.
func TestGroupInParts(t *testing.T) {
	part := func(kind int, plural string) registry.Group {
		group := twoKinds()
		group.Resources = group.Resources[kind : kind+1]
		paths := `"paths":{"/apis/shop.example.com/v1/` + plural + `":{}}`
		group.OpenAPI = map[string]api.Document{"v1": jsondoc.New([]byte(`{"openapi":"3.0.0",` + paths +
			`,"components":{"schemas":{"Shared":{},"` + plural + `":{}}}}`))}
		group.Swagger = jsondoc.New([]byte(`{"swagger":"2.0",` + paths + `,"definitions":{"` + plural + `":{}}}`))
		return group
	}
	program := serving(part(0, "widgets"))
	program.Features = append(program.Features, groupFeature{group: part(1, "gadgets")})
	program.Embedded = opens(func(context.Context, string) (storage.Backend, error) { return memory.New(), nil })
	s := startProgram(t, program, t.TempDir(), "--runtime-config=shop.example.com/v1beta1/gadgets=false")
	client, root := s.client(t), s.url+"/apis/shop.example.com"
	for path, want := range map[string]int{
		"/v1/widgets": 200, "/v1/gadgets": 200, "/v1beta1/widgets": 200, "/v1beta1/gadgets": 404,
	} {
		if code, body := get(t, client, root+path); code != want {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	for path, wants := range map[string][]string{
		"/apis":                                {`"name":"shop.example.com"`},
		"/apis/shop.example.com/v1":            {`"widgets"`, `"gadgets"`},
		"/openapi/v3/apis/shop.example.com/v1": {"v1/widgets", "v1/gadgets", `"Shared"`},
		"/openapi/v2":                          {"v1/widgets", "v1/gadgets"},
	} {
		_, body := get(t, client, s.url+path)
		for _, want := range wants {
			if !strings.Contains(body, want) || path == "/apis" && strings.Count(body, want) != 1 {
				t.Errorf("%s: %s", path, body)
			}
		}
	}
	_, err := apigroups.Unite([]registry.Group{part(0, "widgets"), part(1, "gadgets"), part(1, "gadgets")})
	want := `two parts of the group "shop.example.com" serve gadgets`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// groupFeature is a feature that serves one group.
type groupFeature struct {
	Base
	group registry.Group
}

func (f groupFeature) Groups() []registry.Group { return []registry.Group{f.group} }
