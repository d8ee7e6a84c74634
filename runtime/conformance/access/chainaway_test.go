package access

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/restmapper"
)

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

// moveTo makes the port of an address that of an APIService's server, which is at localhost.
func (c *chained) moveTo(t *testing.T, service, address string) {
	t.Helper()
	c.change(t, service, `{"service":{"port":`+address[strings.LastIndex(address, ":")+1:]+`}}`)
}

// While the guest doesn't answer, its group is there, and nothing else is affected.
func testAway(t *testing.T, c *chained) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	c.create(t, flunders, strings.Replace(flunder, `"a"`, `"kept"`, 1))
	for _, service := range []string{ourService, oldService} {
		c.moveTo(t, service, closed.Addr().String())
	}
	for _, service := range []string{ourService, oldService} {
		c.await(t, service, "False", "FailedDiscoveryCheck")
	}
	c.stale(t)
	guests := []string{flunderGroup + "/v1alpha1", flunderGroup + "/v1beta1"}
	for form, legacy := range forms {
		client := c.discover(t, legacy)
		var want []string // of aggregated discovery, client-go leaves stale versions out
		if legacy {
			want = []string{"v1beta1", "v1alpha1"}
		}
		names, versions := groupsOf(t, client)
		if !slices.Contains(names, flunderGroup) || !slices.Equal(versions[flunderGroup], want) {
			t.Errorf("%s: the group of the guest has %q among %q", form, versions[flunderGroup], names)
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
	kubectlAway(t, c)
	for _, service := range []string{ourService, oldService} {
		c.moveTo(t, service, c.guest)
		c.await(t, service, "True", "Passed")
	}
	c.awaitDiscovery(t)
	c.until(t, adminToken, "GET", flunders+"/kept", "", 200, "")
}

// stale waits until aggregated discovery says that the guest is away, and checks that it keeps what the guest said.
func (c *chained) stale(t *testing.T) {
	t.Helper()
	var below string
	until(t, func() (bool, string) {
		_, body := ask(t, insecure(t), c.url, adminToken, "GET", "/apis", "",
			"Accept", "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList")
		_, below, _ = strings.Cut(body, flunderGroup)
		return strings.Count(body, `"Stale"`) == 2, body
	})
	if !strings.Contains(below, `"flunders"`) || !strings.Contains(below, `"fischers"`) {
		t.Errorf("of the guest, aggregated discovery says %.2000s", below)
	}
}

// An APIService that changes keeps its resources in discovery until the guest was asked anew.
func testChanged(t *testing.T, c *chained) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	asked := make(chan net.Conn, 1)
	go func() {
		for {
			connection, err := silent.Accept()
			if err != nil {
				return
			}
			t.Cleanup(func() { _ = connection.Close() })
			select {
			case asked <- connection:
			default:
			}
		}
	}()
	c.moveTo(t, ourService, silent.Addr().String())
	select {
	case <-asked:
	case <-time.After(eventPatience):
		t.Fatal("the guest is not asked")
	}
	_, lists, err := c.discover(t, false).ServerGroupsAndResourcesWithContext(t.Context())
	if all := strings.Join(lines(lists), "\n"); err != nil || !strings.Contains(all, flunderGroup+"/v1beta1 flunders") {
		t.Errorf("while the guest is asked: %v, %s", err, all)
	}
	c.moveTo(t, ourService, c.guest)
	c.awaitDiscovery(t)
	c.until(t, adminToken, "GET", flunders, "", 200, "")
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
		_, err := mapper.RESTMapping(schema.GroupKind{Group: flunderGroup, Kind: "Flunder"})
		if !meta.IsNoMatchError(err) {
			t.Errorf("%s: a flunder maps: %v", form, err)
		}
	}
	c.until(t, adminToken, "GET", flunders, "", 404, "404")
}
