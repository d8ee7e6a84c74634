package access

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// chained is a server of apigen with another one behind it, and a definition of things. Clients know the first server
// only.
type chained struct {
	*cluster
	guest  string // the address of the other server
	viewer string // the token of a service account that may read flunders
	spy    *spy
	config *rest.Config
}

const (
	definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	services    = "/apis/apiregistration.k8s.io/v1/apiservices"

	thingGroup, flunderGroup = "chain.example.com", "wardle.example.com"

	// ourService is the APIService of the version of flunders that every server of these tests knows.
	ourService, oldService = "v1beta1." + flunderGroup, "v1alpha1." + flunderGroup
)

// thingDefinition is that of things.
const thingDefinition = `{"metadata":{"name":"things.chain.example.com"},"spec":{"group":"chain.example.com",
	"scope":"Namespaced","names":{"plural":"things","singular":"thing","kind":"Thing","listKind":"ThingList"},
	"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},
	"additionalPrinterColumns":[{"name":"Text","type":"string","jsonPath":".spec.text"}],
	"schema":{"openAPIV3Schema":{"type":"object","description":"Thing is the kind in between.","properties":{
	"spec":{"type":"object","description":"spec says the text of the thing.","properties":{
	"text":{"type":"string","description":"text is a text."}}},
	"status":{"type":"object","properties":{"text":{"type":"string"}}}}}}}]}}`

var (
	flunderResource = schema.GroupVersionResource{Group: flunderGroup, Version: "v1beta1", Resource: "flunders"}
	thingResource   = schema.GroupVersionResource{Group: thingGroup, Version: "v1", Resource: "things"}
)

// newFlunder and newThing return objects of the namespace shop with a text, which stands in the field that textOf
// reads.
func newFlunder(name, text string) *unstructured.Unstructured {
	return newObject(flunderResource.GroupVersion().WithKind("Flunder"), name, "flunderReference", text)
}

func newThing(name, text string) *unstructured.Unstructured {
	return newObject(thingResource.GroupVersion().WithKind("Thing"), name, "text", text)
}

func newObject(kind schema.GroupVersionKind, name, field, text string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{field: text}}}
	u.SetGroupVersionKind(kind)
	u.SetNamespace("shop")
	u.SetName(name)
	return u
}

func textField(u *unstructured.Unstructured) string {
	if u.GetKind() == "Thing" {
		return "text"
	}
	return "flunderReference"
}

func textOf(u *unstructured.Unstructured) string {
	text, _, _ := unstructured.NestedString(u.Object, "spec", textField(u))
	return text
}

// startChain returns a chain that serves all of its groups.
func startChain(t *testing.T) *chained {
	t.Helper()
	c := &chained{cluster: startControlPlane(t), spy: &spy{}}
	c.config = &rest.Config{
		Host: c.url, BearerToken: adminToken, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, QPS: -1,
		WarningHandler: rest.NoWarnings{},
	}
	c.viewer = prepare(t, c.cluster)
	c.guest = startGuest(t, c.cluster, c.spy)
	register(t, c.cluster, c.guest)
	c.register(t, "v1alpha1", flunderGroup, 5)
	c.await(t, oldService, "True", "Passed")
	c.cluster.create(t, definitions, thingDefinition)
	c.until(t, adminToken, "GET", "/apis/chain.example.com/v1", "", 200, "things")
	c.await(t, "v1.chain.example.com", "True", "Local")
	c.awaitDiscovery(t)
	return c
}

// awaitDiscovery waits until discovery has read all that the guest says, which follows its being available.
func (c *chained) awaitDiscovery(t *testing.T) {
	t.Helper()
	until(t, func() (bool, string) {
		_, lists, err := c.discover(t, false).ServerGroupsAndResourcesWithContext(t.Context())
		all := strings.Join(lines(lists), "\n")
		return err == nil && strings.Contains(all, "v1beta1 flunders") && strings.Contains(all, "v1alpha1 fischers"),
			fmt.Sprint(err)
	})
}

// register sends a version of a group to the guest.
func (c *chained) register(t *testing.T, version, group string, priority int) {
	t.Helper()
	c.cluster.create(t, services, fmt.Sprintf(`{"metadata":{"name":%q},"spec":{"group":%q,"version":%q,
		"groupPriorityMinimum":1000,"versionPriority":%d,"insecureSkipTLSVerify":true,
		"service":{"namespace":"shop","name":"guest","port":%s}}}`, version+"."+group, group, version, priority,
		c.guest[strings.LastIndex(c.guest, ":")+1:]))
}

// await waits until an APIService says whether it is available, and why.
func (c *chained) await(t *testing.T, service, status, reason string) {
	t.Helper()
	until(t, func() (bool, string) {
		code, body := c.ask(t, adminToken, "GET", services+"/"+service, "")
		var object struct {
			Status struct {
				Conditions []struct{ Type, Status, Reason string }
			}
		}
		if err := json.Unmarshal([]byte(body), &object); err != nil {
			return false, body
		}
		is := object.Status.Conditions
		return code == 200 && len(is) == 1 && is[0].Status == status && is[0].Reason == reason, body
	})
}

// change patches the spec of an APIService.
func (c *chained) change(t *testing.T, service, spec string) {
	t.Helper()
	code, body := ask(t, insecure(t), c.url, adminToken, "PATCH", services+"/"+service, `{"spec":`+spec+`}`,
		"Content-Type", "application/merge-patch+json")
	if code != 200 {
		t.Fatalf("%s: %d %s", service, code, body)
	}
}

// discover returns client-go's discovery client, for aggregated discovery or for the documents before it.
func (c *chained) discover(t *testing.T, legacy bool) *discovery.DiscoveryClient {
	t.Helper()
	client, err := discovery.NewDiscoveryClientForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	client.UseLegacyDiscovery = legacy
	return client
}

func (c *chained) dynamic(t *testing.T) dynamic.Interface {
	t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestChain: a server of apigen, definitions of custom resources in it, and a server of apigen behind it are one API.
func TestChain(t *testing.T) {
	c := startChain(t)
	for _, test := range []struct {
		name string
		run  func(*testing.T, *chained)
	}{
		{"discovery", testDiscovery},
		{"priorities", testPriorities},
		{"mapper", testMapper},
		{"openapi v2", testSwagger},
		{"openapi v3", testOpenAPI},
		{"dynamic client", testDynamic},
		{"controllers", testControllers},
		{"kubectl", testKubectl},
		{"service account", testServiceAccount},
		{"impersonation", testImpersonation},
		{"guest changed", testChanged},
		{"guest away", testAway}, // it comes back
		{"guest gone", testGone},
	} {
		if !t.Run(test.name, func(t *testing.T) { test.run(t, c) }) && strings.HasPrefix(test.name, "guest") {
			return // those that follow need it
		}
	}
}
