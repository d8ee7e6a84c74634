package builtin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"testing"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// frontOf starts a server that finds every service at the one behind, which is set later.
func frontOf(t *testing.T, behind *atomic.Pointer[apitest.Server]) (front *apitest.Server, dir string) {
	t.Helper()
	front = startFeatures(t, func(c *server.Config) {
		dir = c.DataDir
		c.Services = func(context.Context, string, string, int32) (string, error) {
			u, err := url.Parse(behind.Load().URL)
			return u.Host, err
		}
	}, &apiregistration.Feature{})
	return front, dir
}

// TestGarbageElsewhere: the collector of a server follows owners and dependents in another server, in both directions,
// and that server collects nothing itself.
func TestGarbageElsewhere(t *testing.T) {
	var behind atomic.Pointer[apitest.Server]
	front, dir := frontOf(t, &behind)
	behind.Store(startBehind(t, filepath.Join(dir, "front-proxy", "ca.crt")))
	until(t, front, http.MethodPost, services, registration("widgets", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	const (
		configMaps = "/api/v1/namespaces/ns/configmaps"
		widgets    = "/apis/shop.example.com/v1/namespaces/ns/widgets"
	)
	until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"ns"}}`, http.StatusCreated)
	create := func(collection, name, owner string) string {
		t.Helper()
		return string(send[metav1.PartialObjectMetadata](t, front, http.MethodPost, collection, fmt.Sprintf(
			`{"metadata":{"name":%q,"ownerReferences":[%s]}}`, name, owner), http.StatusCreated).UID)
	}
	configMap := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","name":%q,"uid":%q,"blockOwnerDeletion":true}`,
			name, uid)
	}
	widget := func(name, uid string) string {
		return fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Widget","name":%q,"uid":%q}`, name, uid)
	}
	for _, policy := range []string{"Background", "Foreground"} {
		first := create(configMaps, "first", "")
		second := create(widgets, "second", configMap("first", first))
		create(configMaps, "third", widget("second", second))
		until(t, front, http.MethodDelete, configMaps+"/first?propagationPolicy="+policy, "", http.StatusOK)
		for _, path := range []string{configMaps + "/first", widgets + "/second", configMaps + "/third"} {
			until(t, front, http.MethodGet, path, "", http.StatusNotFound)
		}
	}
	first := create(configMaps, "first", "")
	second := create(widgets, "second", configMap("first", first))
	create(configMaps, "third", widget("second", second))
	until(t, front, http.MethodDelete, configMaps+"/first?propagationPolicy=Orphan", "", http.StatusOK)
	until(t, front, http.MethodGet, configMaps+"/first", "", http.StatusNotFound)
	untilObject(t, front, widgets+"/second", func(o *metav1.PartialObjectMetadata) bool {
		return len(o.OwnerReferences) == 0
	})
	until(t, front, http.MethodDelete, widgets+"/second?propagationPolicy=Orphan", "", http.StatusOK)
	until(t, front, http.MethodGet, widgets+"/second", "", http.StatusNotFound)
	untilObject(t, front, configMaps+"/third", func(o *metav1.PartialObjectMetadata) bool {
		return len(o.OwnerReferences) == 0
	})
}
