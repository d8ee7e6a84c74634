package access

import (
	"errors"
	"fmt"
	"net"
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
		if group.PreferredVersion != group.Versions[0] {
			t.Errorf("%s prefers %v to %v", group.Name, group.PreferredVersion, group.Versions)
		}
	}
	return names, versions
}

// lines returns resources as text, one a line.
func lines(lists []*metav1.APIResourceList) (all []string) {
	for _, list := range lists {
		for _, r := range list.APIResources {
			slices.Sort(r.Verbs)
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

// failed returns the versions that discovery has no resources of.
func failed(t *testing.T, err error) (versions []string) {
	t.Helper()
	var failure *discovery.ErrGroupDiscoveryFailed
	if err != nil && !errors.As(err, &failure) {
		t.Fatal(err)
	}
	if failure != nil {
		for gv := range failure.Groups {
			versions = append(versions, gv.String())
		}
	}
	slices.Sort(versions)
	return versions
}

// While the guest doesn't answer, its group is there, and nothing else is affected.
func testAway(t *testing.T, c *chained) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	c.create(t, flunders, strings.Replace(flunder, `"a"`, `"kept"`, 1))
	c.listens(closed.Addr().String())
	for _, service := range []string{ourService, oldService} {
		c.change(t, service, `{"service":{"port":4444}}`)
	}
	for _, service := range []string{ourService, oldService} {
		c.await(t, service, "False", "FailedDiscoveryCheck")
	}
	guests := []string{flunderGroup + "/v1alpha1", flunderGroup + "/v1beta1"}
	for form, legacy := range forms {
		client := c.discover(t, legacy)
		if _, versions := groupsOf(t, client); !slices.Equal(versions[flunderGroup], []string{"v1beta1", "v1alpha1"}) {
			t.Errorf("%s: the group of the guest has %q", form, versions[flunderGroup])
		}
		_, lists, err := client.ServerGroupsAndResourcesWithContext(t.Context())
		if got := failed(t, err); !slices.Equal(got, guests) {
			t.Errorf("%s: %q have no resources: %v", form, got, err)
		}
		if all := strings.Join(lines(lists), "\n"); !strings.Contains(all, "things") {
			t.Errorf("%s: no things in\n%s", form, all)
		}
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
		if _, err := mapper.RESTMapping(schema.GroupKind{Group: thingGroup, Kind: "Thing"}); err != nil {
			t.Errorf("%s: %v", form, err)
		}
	}
	if code, body := c.ask(t, adminToken, "GET", flunders, ""); code != 503 || body != "service unavailable\n" {
		t.Errorf("flunders: %d %s", code, body)
	}
	c.stale(t)
	kubectlAway(t, c)
	c.listens(c.guest)
	for _, service := range []string{ourService, oldService} {
		c.change(t, service, `{"service":{"port":443}}`)
		c.await(t, service, "True", "Passed")
	}
	until(t, func() (bool, string) {
		_, lists, err := c.discover(t, false).ServerGroupsAndResourcesWithContext(t.Context())
		return err == nil && strings.Contains(strings.Join(lines(lists), "\n"), "flunders"), fmt.Sprint(err)
	})
	c.until(t, adminToken, "GET", flunders+"/kept", "", 200, "")
}

// stale checks that aggregated discovery keeps what the guest said before it went away.
func (c *chained) stale(t *testing.T) {
	t.Helper()
	code, body := ask(t, insecure(t), c.url, adminToken, "GET", "/apis", "",
		"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
	_, below, _ := strings.Cut(body, flunderGroup)
	if code != 200 || !strings.Contains(below, `"flunders"`) || strings.Count(body, `"Stale"`) != 2 {
		t.Errorf("aggregated discovery: %d, %d are stale, and of the guest it says %.2000s", code,
			strings.Count(body, `"Stale"`), below)
	}
}

// Without its APIServices the guest's group is gone.
func testGone(t *testing.T, c *chained) {
	for _, service := range []string{ourService, oldService} {
		if code, body := c.ask(t, adminToken, "DELETE", services+"/"+service, ""); code != 200 {
			t.Fatalf("%s: %d %s", service, code, body)
		}
	}
	for form, legacy := range forms {
		client := c.discover(t, legacy)
		until(t, func() (bool, string) {
			names, _ := groupsOf(t, client)
			return !slices.Contains(names, flunderGroup), fmt.Sprintf("%s: %q", form, names)
		})
		if _, _, err := client.ServerGroupsAndResourcesWithContext(t.Context()); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client))
		if _, err := mapper.RESTMapping(schema.GroupKind{Group: flunderGroup, Kind: "Flunder"}); !meta.IsNoMatchError(err) {
			t.Errorf("%s: a flunder maps: %v", form, err)
		}
	}
	c.until(t, adminToken, "GET", flunders, "", 404, "404")
}
