package apitest

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"testing"

	"apigen.dev/runtime/registry"
)

// Exercise starts a server for groups, and sends the requests of usual clients about each kind in each version, for
// three objects: one that has no more than the server demands, one with all fields that the server accepts, and the
// sample in config/samples of the module, if there is one. It creates, updates and patches the object in all ways,
// applies it by two managers, reads it in all forms, protobuf included where the kind has it, and watches it. The
// objects are made from the group's OpenAPI documents.
//
// The test fails where the server answers 5xx, refuses a sample, refuses a request about an object that it accepted, or
// answers another object. A kind of which no object can be made is logged. Without are resources, such as
// widgets.shop.example.com, that are left out.
func Exercise(t *testing.T, groups []registry.Group, without ...string) {
	t.Helper()
	for name, k := range kinds(t, Start(t, groups...), groups) {
		if !slices.Contains(without, k.resource) {
			t.Run(name, func(t *testing.T) { k.run(t) })
		}
	}
}

// kinds returns the kinds in each version that objects can be created of, and their names.
func kinds(t testing.TB, server *Server, groups []registry.Group) iter.Seq2[string, *exercised] {
	samples := samplesOf(t)
	return func(yield func(string, *exercised) bool) {
		for _, group := range groups {
			for _, version := range group.Versions {
				document := &schemas{}
				for _, resource := range group.Resources {
					info := resource.Info()
					if info.Version(version) == nil || !info.Has("create") {
						continue
					}
					status := info.Subresource("status")
					k := &exercised{
						server: server, schemas: document, samples: samples, group: group.Name, version: version,
						kind: info.Names.Kind, plural: info.Names.Plural, resource: info.GroupResource().String(),
						namespaced: info.Scope == "Namespaced", status: status != nil && status.In(version),
						protobuf: info.Version(version).Protobuf, has: info.Has,
					}
					if !yield(k.apiVersion()+"/"+k.plural, k) {
						return
					}
				}
			}
		}
	}
}

// exercised is a kind in a version.
type exercised struct {
	testing.TB
	server                                 *Server
	schemas                                *schemas
	samples                                []object
	group, version, kind, plural, resource string
	namespaced, status, protobuf           bool
	has                                    func(verb string) bool
}

// object is one in JSON.
type object = map[string]any

func (k *exercised) run(t testing.TB) {
	k.TB = t
	if err := k.schemas.read(k); err != nil {
		t.Fatal(err)
	}
	minimal := k.minimal()
	if minimal != nil {
		k.requests(minimal)
		k.requests(k.full(minimal))
	}
	for _, sample := range k.samples {
		if sample["apiVersion"] == k.apiVersion() && sample["kind"] == k.kind {
			k.sample(sample)
			minimal = sample
		}
	}
	if minimal == nil {
		t.Logf("not exercised: no object of %s can be made from its schema, and config/samples has none", k.kind)
	}
}

// sample sends all requests about a sample, unless it is refused.
func (k *exercised) sample(sample object) {
	k.Helper()
	if ok, refusal := k.accepts(k.placed(sample)); !ok {
		k.Errorf("the server refuses the %s %q of config/samples, which needs to be mended: %v", k.kind,
			k.metadata(sample)["name"], refusal["message"])
		return
	}
	k.requests(sample)
}

// placed returns an object in the namespace of the requests.
func (k *exercised) placed(sent object) object {
	if !k.namespaced {
		return sent
	}
	sent = maps.Clone(sent)
	metadata := maps.Clone(k.metadata(sent))
	metadata["namespace"] = "default"
	sent["metadata"] = metadata
	return sent
}

func (k *exercised) apiVersion() string {
	if k.group == "" {
		return k.version
	}
	return k.group + "/" + k.version
}

// path is that of the collection.
func (k *exercised) path() string {
	path := "/apis/" + k.apiVersion()
	if k.group == "" {
		path = "/api/" + k.version
	}
	if k.namespaced {
		path += "/namespaces/default"
	}
	return path + "/" + k.plural
}

// requests creates an object and sends all requests about it.
func (k *exercised) requests(sent object) {
	k.Helper()
	created := k.do(request{method: http.MethodPost, path: k.path(), body: k.placed(sent)})
	name, _ := k.metadata(created)["name"].(string)
	if name == "" || !k.has("get") {
		return // it is answered and not stored
	}
	one := k.path() + "/" + name
	k.reads(one, created)
	if k.protobuf {
		k.inProtobuf(one, created)
	}
	if k.has("update") {
		k.same("PUT of what GET answered", k.do(request{method: http.MethodPut, path: one,
			body: k.do(request{path: one})}), created)
	}
	if k.has("patch") {
		k.patches(one, created)
		k.applies(one, created)
	}
	if k.status {
		k.statuses(one, created)
	}
	if k.has("delete") {
		k.do(request{method: http.MethodDelete, path: one})
	}
}

// forms are the media types in which clients read.
var forms = []string{
	"application/json", "application/yaml", "application/cbor",
	"application/json;as=Table;v=v1;g=meta.k8s.io",
	"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
}

func (k *exercised) reads(one string, created object) {
	k.Helper()
	for i, form := range forms {
		read := k.do(request{path: one, accept: form})
		if i < 3 {
			k.same("GET as "+form, read, created)
		}
		if i == 4 {
			form = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"
		}
		if k.has("list") {
			k.do(request{path: k.path(), accept: form})
		}
	}
	if k.has("watch") {
		k.watches(one, created)
	}
}

// patches changes a label in all ways, beside a patch of all other fields to what they are.
func (k *exercised) patches(one string, created object) {
	k.Helper()
	for _, kind := range []string{"merge-patch", "strategic-merge-patch"} {
		patch := content(created)
		patch["metadata"] = object{"labels": object{"exercise": kind}}
		k.same("a "+kind, k.do(request{method: http.MethodPatch, path: one, body: patch,
			mediaType: "application/" + kind + "+json"}), created)
	}
	k.same("a JSON patch", k.do(request{method: http.MethodPatch, path: one, mediaType: "application/json-patch+json",
		body: []any{object{"op": "replace", "path": "/metadata/labels/exercise", "value": "json"}}}), created)
}

// applies applies what was created by two managers, and again by both.
func (k *exercised) applies(one string, created object) {
	k.Helper()
	configuration := content(created)
	if k.status {
		delete(configuration, "status")
	}
	k.apply(one, configuration, created)
}

func (k *exercised) apply(path string, configuration, want object) {
	k.Helper()
	configuration = k.named(k.metadata(want)["name"], configuration)
	for _, query := range []string{"one&force=true", "two&force=true", "one", "two"} {
		k.same("an apply by "+query, k.do(request{method: http.MethodPatch, path: path + "?fieldManager=" + query,
			mediaType: "application/apply-patch+yaml", body: configuration}), want)
	}
}

// statuses updates and applies the status: as it is, and with all of its fields, if the server accepts these.
func (k *exercised) statuses(one string, created object) {
	k.Helper()
	update := request{method: http.MethodPut, path: one + "/status", body: k.do(request{path: one + "/status"})}
	k.same("PUT of the status", k.do(update), created)
	property := k.schemas.kind(k.group, k.version, k.kind).Properties["status"]
	if property == nil {
		return
	}
	whole := k.named(k.metadata(created)["name"], created)
	whole["status"] = maker{schemas: k.schemas, full: true}.value(property, 0)
	update.body = whole
	written, failure := k.server.send(k.TB, update)
	if failure != "" {
		k.Logf("a status with all fields is refused: %.500s", failure)
		return
	}
	k.reads(one, written)
	k.apply(one+"/status", object{"status": written["status"]}, written)
}

func (k *exercised) metadata(of object) object {
	metadata, _ := of["metadata"].(object)
	return metadata
}

// content returns an object without what names it.
func content(of object) object {
	out := maps.Clone(of)
	for _, field := range []string{"metadata", "apiVersion", "kind"} {
		delete(out, field)
	}
	return out
}

// same fails the test where the content of an object is another one.
func (k *exercised) same(what string, got, want object) {
	k.Helper()
	if a, b := content(got), content(want); got != nil && !reflect.DeepEqual(a, b) {
		x, _ := json.MarshalIndent(a, "", " ")
		y, _ := json.MarshalIndent(b, "", " ")
		k.Errorf("%s answers\n%s\nwant\n%s", what, x, y)
	}
}

// do sends a request that must succeed, and returns the object that is answered.
func (k *exercised) do(r request) object {
	k.Helper()
	answer, failure := k.server.send(k.TB, r)
	if failure != "" {
		body, _ := json.Marshal(r.body)
		k.Errorf("%s %s as %s: %s\nsent: %s", cmp.Or(r.method, http.MethodGet), r.path, r.mediaType+r.accept,
			failure, body)
		return nil
	}
	return answer
}
