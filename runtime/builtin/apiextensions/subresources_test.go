package apiextensions_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// lamp has subresources in v1 alone.
const lamp = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: lamps.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Lamp, plural: lamps}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}, scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas}}
    schema: {openAPIV3Schema: &schema {type: object, x-kubernetes-preserve-unknown-fields: true}}
  - name: v2
    served: true
    storage: false
    schema: {openAPIV3Schema: *schema}
`

// A version of a definition has the subresources that the definition gives it, and no others.
func TestSubresourcesOfAVersion(t *testing.T) {
	c := start(t)
	c.establish(lamp, "lamps.shop.example.com")
	const v1, v2 = "/apis/shop.example.com/v1/namespaces/ns/lamps", "/apis/shop.example.com/v2/namespaces/ns/lamps"
	object := func(version, name, more string) string {
		return fmt.Sprintf("{apiVersion: shop.example.com/%s, kind: Lamp, metadata: {name: %s}, spec: {replicas: 2}%s}",
			version, name, more)
	}
	for version, want := range map[string]string{"v1": "lamps lamps/status lamps/scale", "v2": "lamps"} {
		listed := c.want(http.StatusOK, http.MethodGet, "/apis/shop.example.com/"+version, "")
		var names []string
		for _, resource := range listed["resources"].([]any) {
			names = append(names, fmt.Sprint(at(resource, "name")))
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("discovery of %s has %s, want %s", version, got, want)
		}
		document := c.want(http.StatusOK, http.MethodGet, "/openapi/v3/apis/shop.example.com/"+version, "")
		path := "/apis/shop.example.com/" + version + "/namespaces/{namespace}/lamps/{name}/"
		for _, part := range []string{"status", "scale"} {
			if has := at(document, "paths", path+part) != nil; has != (version == "v1") {
				t.Errorf("the document of %s has the path of %s: %t", version, part, has)
			}
		}
	}
	made := c.want(http.StatusCreated, http.MethodPost, v1, object("v1", "a", ", status: {phase: bright}"))
	if made["status"] != nil {
		t.Errorf("a creation in v1 set the status: %v", made)
	}
	made = c.want(http.StatusCreated, http.MethodPost, v2, object("v2", "b", ", status: {phase: bright}"))
	if at(made, "status", "phase") != "bright" {
		t.Errorf("a creation in v2 didn't set the status: %v", made)
	}
	for _, part := range []string{"status", "scale"} {
		c.want(http.StatusOK, http.MethodGet, v1+"/a/"+part, "")
		for _, method := range []string{http.MethodGet, http.MethodPatch, http.MethodPut, http.MethodPost} {
			c.want(http.StatusNotFound, method, v2+"/a/"+part, "{}")
		}
	}
	// A write in v1 keeps the status, one in v2 sets it, and counts it as a change of the object.
	for _, step := range []struct {
		path, patch, phase string
		generation         float64
	}{
		{v1 + "/b", "status: {phase: dark}", "bright", 1}, {v2 + "/b", "status: {phase: dark}", "dark", 2},
		{v1 + "/b/status", "status: {phase: dim}", "dim", 2}, {v2 + "/b", "status: {phase: dim}", "dim", 2},
	} {
		now := c.want(http.StatusOK, http.MethodPatch, step.path, step.patch)
		if at(now, "status", "phase") != step.phase || at(now, "metadata", "generation") != step.generation {
			t.Errorf("%s %s: %v", step.path, step.patch, now)
		}
	}
}

// A field manager that sets the status through a version without the subresource owns it.
func TestStatusOwner(t *testing.T) {
	c := start(t)
	c.establish(lamp, "lamps.shop.example.com")
	for version, want := range map[string]bool{"v1": false, "v2": true} {
		path := "/apis/shop.example.com/" + version + "/namespaces/ns/lamps"
		made := c.want(http.StatusCreated, http.MethodPost, path, fmt.Sprintf(
			"{apiVersion: shop.example.com/%s, kind: Lamp, metadata: {name: %s}, spec: {a: 1}, status: {b: 2}}",
			version, version))
		fields := at(made, "metadata", "managedFields").([]any)
		if len(fields) != 1 || (at(fields[0], "fieldsV1", "f:status") != nil) != want {
			t.Errorf("%s: %v", version, fields)
		}
	}
}

// gauge has a status with defaults, each version one of its own, and the subresource in both.
const gauge = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gauges.shop.example.com}
spec:
  group: shop.example.com
  names: {kind: Gauge, plural: gauges}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, default: {}, properties: {
      phase: {type: string, default: new}, level: {type: integer}}}}}}
  - name: v2
    served: true
    storage: false
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, default: {}, properties: {
      phase: {type: string}, level: {type: integer, default: 7}}}}}}
`

// TestDefaultsOfANewStatus: the answer to a creation has the defaults of a status that a read has, although the server
// ignores the status that the client sent. kube-apiserver decodes what it stored for the answer.
func TestDefaultsOfANewStatus(t *testing.T) {
	c := start(t)
	c.establish(gauge, "gauges.shop.example.com")
	const want = "map[phase:new]" // both versions have the defaults of the one that is stored
	for _, version := range []string{"v1", "v2"} {
		path := "/apis/shop.example.com/" + version + "/namespaces/ns/gauges"
		object := func(name string) string {
			return fmt.Sprintf("{apiVersion: shop.example.com/%s, kind: Gauge, metadata: {name: %s}, "+
				"status: {phase: old, level: 3}}", version, name)
		}
		for name, answer := range map[string]map[string]any{
			version + "-dry": c.want(http.StatusCreated, http.MethodPost, path+"?dryRun=All", object(version+"-dry")),
			version:          c.want(http.StatusCreated, http.MethodPost, path, object(version)),
		} {
			if got := fmt.Sprint(answer["status"]); got != want {
				t.Errorf("%s: the answer has the status %s, want %s", name, got, want)
			}
		}
		read := c.want(http.StatusOK, http.MethodGet, path+"/"+version, "")
		if got := fmt.Sprint(read["status"]); got != want {
			t.Errorf("%s: a read has the status %s, want %s", version, got, want)
		}
	}
}
