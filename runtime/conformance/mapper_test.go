package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/disk"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/openapi"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
)

// counted counts requests by path and the answer's code.
type counted struct {
	mu     sync.Mutex
	counts map[string]int
}

func (c *counted) wrap(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		answer, err := next.RoundTrip(r)
		if err == nil {
			c.mu.Lock()
			defer c.mu.Unlock()
			if c.counts == nil {
				c.counts = map[string]int{}
			}
			c.counts[fmt.Sprintf("%s %d", r.URL.Path, answer.StatusCode)]++
		}
		return answer, err
	})
}

// take returns the counts, and begins anew.
func (c *counted) take() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	defer func() { c.counts = nil }()
	return c.counts
}

// Discovery that is kept on disk, as kubectl keeps it, asks whether anything is new, and is told so without a body.
func TestDiscoveryOnDisk(t *testing.T) {
	t.Parallel()
	server := memoryCluster(t)
	dir := t.TempDir()
	requests := new(counted)
	config := rest.CopyConfig(server.config)
	config.Wrap(requests.wrap)
	cached := func(ttl time.Duration) discovery.CachedDiscoveryInterface {
		client, err := disk.NewCachedDiscoveryClientForConfig(config, dir+"/discovery", dir+"/http", ttl)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	read := func(client discovery.CachedDiscoveryInterface) {
		t.Helper()
		if _, lists, err := client.ServerGroupsAndResources(); err != nil || len(lists) < 5 {
			t.Fatal(lists, err)
		}
		paths, err := client.OpenAPIV3().Paths()
		if err != nil {
			t.Fatal(err)
		}
		if document, err := paths["apis/apps/v1"].Schema(openapi.ContentTypeOpenAPIV3PB); err != nil ||
			len(document) == 0 {
			t.Fatal(err)
		}
	}
	read(cached(time.Hour))
	requests.take()
	read(cached(time.Hour))
	if again := requests.take(); again["/apis 200"] > 0 || again["/api 200"] > 0 {
		t.Errorf("asked again: %v", again)
	}
	read(cached(0))
	if again := requests.take(); again["/apis 304"] == 0 || again["/api 304"] == 0 || again["/apis 200"] > 0 ||
		again["/openapi/v3 200"] > 0 {
		t.Errorf("read again, and not only asked whether it is new: %v", again)
	}
}

// Names that people use are expanded by what discovery says.
func TestExpanders(t *testing.T) {
	t.Parallel()
	client := memory.NewMemCacheClient(newClientset(t, memoryCluster(t).config).Discovery())
	var warnings []string
	mapper := restmapper.NewShortcutExpander(restmapper.NewDeferredDiscoveryRESTMapper(client), client,
		func(text string) { warnings = append(warnings, text) })
	for short, want := range map[string]string{
		"deploy": "deployments",
		"rs":     "replicasets",
		"po":     "pods",
		"cm":     "configmaps",
		"no":     "nodes",
		"pdb":    "poddisruptionbudgets",
	} {
		if got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short}); err != nil ||
			got.Resource != want {
			t.Errorf("%s: %v, %v", short, got, err)
		}
	}
	if got, err := mapper.KindFor(schema.GroupVersionResource{Resource: "deployment", Group: "apps"}); err != nil ||
		got != deploymentKind {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := mapper.ResourceSingularizer("deployments"); err != nil || got != "deployment" {
		t.Errorf("%s, %v", got, err)
	}
	all, ok := restmapper.NewDiscoveryCategoryExpander(client).Expand("all")
	names := map[string]bool{}
	for _, resource := range all {
		names[resource.String()] = true
	}
	if want := map[string]bool{"pods": true, "deployments.apps": true, "replicasets.apps": true}; !ok ||
		!maps.Equal(names, want) {
		t.Errorf("all is %v", names)
	}
	if _, ok := restmapper.NewDiscoveryCategoryExpander(client).Expand("nothing"); ok {
		t.Error("there is a category nothing")
	}
}

// A mapper that was made of other versions finds those of today when it is reset,
// as is done where it doesn't know a name.
func TestMapperAfterAnUpgrade(t *testing.T) {
	t.Parallel()
	p := startProcess(t, "--runtime-config=wardle.example.com/v1beta1=false")
	config := newTarget(t, p.kubeconfig()).config
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
	kind := schema.GroupKind{Group: group, Kind: "Flunder"}
	if mapping, err := mapper.RESTMapping(kind); err != nil || mapping.Resource.Version != "v1alpha1" {
		t.Fatalf("%+v, %v", mapping, err)
	}
	if mapping, err := mapper.RESTMapping(kind, "v1beta1"); !meta.IsNoMatchError(err) {
		t.Fatalf("%+v, %v", mapping, err)
	}
	flags := p.arguments
	p.arguments = slices.DeleteFunc(slices.Clone(flags), func(flag string) bool {
		return strings.HasPrefix(flag, "--runtime-config")
	})
	p.crash()
	mapper.Reset()
	if mapping, err := mapper.RESTMapping(kind); err != nil || mapping.Resource != flunders {
		t.Errorf("%+v, %v", mapping, err)
	}
}
