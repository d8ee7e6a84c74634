package access

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

// forms are those of discovery.
var forms = map[string]bool{"aggregated": false, "legacy": true}

// groupsOf returns the names of groups in the order of a client, and the versions of each.
func groupsOf(t *testing.T, client *discovery.DiscoveryClient) (names []string, versions map[string][]string) {
	t.Helper()
	list, err := client.ServerGroupsWithContext(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	versions = map[string][]string{}
	for _, group := range list.Groups {
		names = append(names, group.Name)
		for _, version := range group.Versions {
			versions[group.Name] = append(versions[group.Name], version.Version)
		}
		if len(group.Versions) > 0 && group.PreferredVersion != group.Versions[0] {
			t.Errorf("%s prefers %v to %v", group.Name, group.PreferredVersion, group.Versions)
		}
	}
	return names, versions
}

// lines returns resources as text, one a line. Clients make up the singular names of subresources.
func lines(lists []*metav1.APIResourceList) (all []string) {
	for _, list := range lists {
		for _, r := range list.APIResources {
			slices.Sort(r.Verbs)
			if strings.Contains(r.Name, "/") {
				r.SingularName = ""
			}
			all = append(all, fmt.Sprint(list.GroupVersion, " ", r.Name, " ", r.SingularName, " ", r.Kind, " ",
				r.Namespaced, " ", r.Verbs, r.ShortNames, r.Categories))
		}
	}
	slices.Sort(all)
	return all
}

// Both forms of discovery list the groups of all, and say the same of their resources.
func testDiscovery(t *testing.T, c *chained) {
	seen := map[string][]string{}
	for form, legacy := range forms {
		names, versions := groupsOf(t, c.discover(t, legacy))
		for group, want := range map[string][]string{
			"": {"v1"}, "rbac.authorization.k8s.io": {"v1"}, "apiregistration.k8s.io": {"v1"}, thingGroup: {"v1"},
			flunderGroup: {"v1beta1", "v1alpha1"},
		} {
			if !slices.Equal(versions[group], want) {
				t.Errorf("%s: %s has versions %q, want %q, among %q", form, group, versions[group], want, names)
			}
		}
		_, lists, err := c.discover(t, legacy).ServerGroupsAndResourcesWithContext(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", form, err)
		}
		seen[form] = lines(lists)
		for _, want := range []string{
			"wardle.example.com/v1beta1 flunders flunder Flunder true", "chain.example.com/v1 things thing Thing true",
			"chain.example.com/v1 things/status  Thing true", "v1 configmaps configmap ConfigMap true",
		} {
			if !slices.ContainsFunc(seen[form], func(l string) bool { return strings.HasPrefix(l, want+" ") }) {
				t.Errorf("%s: no %q in\n%s", form, want, strings.Join(seen[form], "\n"))
			}
		}
	}
	if diff := cmp.Diff(seen["legacy"], seen["aggregated"]); diff != "" {
		t.Errorf("the forms differ:\n%s", diff)
	}
}

// Groups, and versions of a group, stand in the order of their priorities.
func testPriorities(t *testing.T, c *chained) {
	for _, step := range []struct {
		name, service, spec string
		order               []string // of groups
		versions            []string // of the guest's group
	}{
		{"equal priorities", ourService, `{}`,
			[]string{thingGroup, flunderGroup}, []string{"v1beta1", "v1alpha1"}},
		{"a greater one", ourService, `{"groupPriorityMinimum":17650}`,
			[]string{"authentication.k8s.io", flunderGroup, "authorization.k8s.io", thingGroup},
			[]string{"v1beta1", "v1alpha1"}},
		{"another version", oldService, `{"versionPriority":20}`,
			[]string{"authentication.k8s.io", flunderGroup, "authorization.k8s.io"},
			[]string{"v1alpha1", "v1beta1"}},
		{"the version again", oldService, `{"versionPriority":5}`, []string{flunderGroup, "authorization.k8s.io"},
			[]string{"v1beta1", "v1alpha1"}},
		{"the least", ourService, `{"groupPriorityMinimum":1000}`, []string{thingGroup, flunderGroup},
			[]string{"v1beta1", "v1alpha1"}},
	} {
		c.change(t, step.service, step.spec)
		for form, legacy := range forms {
			until(t, func() (bool, string) {
				names, versions := groupsOf(t, c.discover(t, legacy))
				at := make([]int, 0, len(step.order))
				for _, name := range step.order {
					at = append(at, slices.Index(names, name))
				}
				return names[0] == "" && slices.IsSorted(at) && slices.Equal(versions[flunderGroup], step.versions),
					fmt.Sprintf("%s, %s: %q, %q", step.name, form, names, versions[flunderGroup])
			})
		}
	}
}

// A mapper finds the kinds and the resources of all.
func testMapper(t *testing.T, c *chained) {
	for form, legacy := range forms {
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(c.discover(t, legacy)))
		for kind, want := range map[string]schema.GroupVersionResource{
			"Flunder.wardle.example.com": flunderResource, "Thing.chain.example.com": thingResource,
			"ConfigMap.": {Version: "v1", Resource: "configmaps"},
		} {
			mapping, err := mapper.RESTMapping(schema.ParseGroupKind(kind))
			if err != nil || mapping.Resource != want || mapping.Scope.Name() != meta.RESTScopeNameNamespace {
				t.Errorf("%s: %s is %+v, %v", form, kind, mapping, err)
			}
		}
		for short, want := range map[string]schema.GroupVersionResource{
			"flunder": flunderResource, "thing": thingResource, "fischers": {
				Group: flunderGroup, Version: "v1alpha1", Resource: "fischers",
			},
		} {
			if got, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: short}); err != nil || got != want {
				t.Errorf("%s: %s is %v, %v", form, short, got, err)
			}
		}
	}
}
