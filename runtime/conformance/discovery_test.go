package conformance

import (
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/openapi3"
	"k8s.io/client-go/restmapper"
)

const group = "wardle.example.com"

// resources reads what discovery says: group/version/name, with its kind and verbs.
func resources(t *testing.T, client *discovery.DiscoveryClient) map[string]metav1.APIResource {
	t.Helper()
	groups, lists, err := client.ServerGroupsAndResources()
	if err != nil {
		t.Fatal(err)
	}
	if len(groups) != 2 || groups[0].Name != group || groups[0].PreferredVersion.Version != "v1beta1" ||
		groups[1].Name != "library.example.com" {
		t.Errorf("groups: %+v", groups)
	}
	out := map[string]metav1.APIResource{}
	for _, list := range lists {
		for _, resource := range list.APIResources {
			out[list.GroupVersion+"/"+resource.Name] = resource
		}
	}
	return out
}

// Both forms of discovery say the same.
func TestDiscovery(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		aggregated, err := discovery.NewDiscoveryClientForConfig(server.config)
		if err != nil {
			t.Fatal(err)
		}
		legacy, err := discovery.NewDiscoveryClientForConfig(server.config)
		if err != nil {
			t.Fatal(err)
		}
		legacy.UseLegacyDiscovery = true
		verbs := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
		for form, client := range map[string]*discovery.DiscoveryClient{"aggregated": aggregated, "legacy": legacy} {
			got := resources(t, client)
			for name, namespaced := range map[string]bool{
				"wardle.example.com/v1alpha1/flunders": true, "wardle.example.com/v1beta1/flunders": true,
				"wardle.example.com/v1alpha1/fischers": false,
			} {
				resource, ok := got[name]
				slices.Sort(resource.Verbs)
				if !ok || resource.Namespaced != namespaced || !slices.Equal(resource.Verbs, verbs) {
					t.Errorf("%s: %s: %+v", form, name, resource)
				}
			}
			if _, ok := got["wardle.example.com/v1beta1/fischers"]; ok {
				t.Errorf("%s: fischers in v1beta1, which has none", form)
			}
		}
		checkMapper(t, aggregated)
	})
}

// checkMapper maps names to resources, as kubectl and controller-runtime do.
func checkMapper(t *testing.T, client discovery.DiscoveryInterface) {
	t.Helper()
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDiscoveryRESTMapper(groups)
	preferred, err := mapper.KindFor(schema.GroupVersionResource{Resource: "flunder"})
	if want := (schema.GroupVersionKind{Group: group, Version: "v1beta1", Kind: "Flunder"}); err != nil ||
		preferred != want {
		t.Errorf("flunder is %v, %v", preferred, err)
	}
	mapping, err := mapper.RESTMapping(schema.GroupKind{Group: group, Kind: "Fischer"})
	if err != nil || mapping.Resource.Version != "v1alpha1" || mapping.Scope.Name() != "root" {
		t.Errorf("Fischer is %+v, %v", mapping, err)
	}
}

// The OpenAPI documents are read by client-go's own client, by hash, and hold the kinds.
func TestOpenAPI(t *testing.T) {
	onEach(t, func(t *testing.T, server *target) {
		client, err := discovery.NewDiscoveryClientForConfig(server.config)
		if err != nil {
			t.Fatal(err)
		}
		root := openapi3.NewRoot(client.OpenAPIV3())
		for version, kinds := range map[string][]string{
			"v1alpha1": {"Flunder", "FlunderList", "Fischer"},
			"v1beta1":  {"Flunder", "FlunderList"},
		} {
			spec, err := root.GVSpec(schema.GroupVersion{Group: group, Version: version})
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			for _, definition := range spec.Components.Schemas {
				var gvks []struct{ Group, Kind, Version string }
				if err := definition.Extensions.GetObject("x-kubernetes-group-version-kind", &gvks); err != nil {
					t.Error(err)
				}
				for _, gvk := range gvks {
					if gvk.Group == group && gvk.Version == version {
						found = append(found, gvk.Kind)
					}
				}
			}
			for _, kind := range kinds {
				if !slices.Contains(found, kind) {
					t.Errorf("%s: no %s among %q", version, kind, found)
				}
			}
			if spec.Paths.Paths["/apis/wardle.example.com/"+version+"/namespaces/{namespace}/flunders/{name}"] == nil {
				t.Errorf("%s: no path of a flunder", version)
			}
		}
		if info, err := client.ServerVersion(); err != nil || info.Major == "" || info.GitVersion == "" {
			t.Errorf("version: %+v, %v", info, err)
		}
	})
}
