package builtin_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/apiregistration"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/shop"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const services = "/apis/apiregistration.k8s.io/v1/apiservices"

// startBehind starts a server of widgets that believes a front proxy whose authority is in a file.
func startBehind(t *testing.T, authority string) *apitest.Server {
	t.Helper()
	ca, err := os.ReadFile(authority)
	if err != nil {
		t.Fatal(err)
	}
	trust, err := frontproxy.NewTrust(ca, []string{"front-proxy-client"}, frontproxy.Standard())
	if err != nil {
		t.Fatal(err)
	}
	return apitest.StartWith(t, func(c *server.Config) {
		c.Authentication.FrontProxy = frontproxy.New(func() *frontproxy.Trust { return trust })
		c.Authorizer, c.Garbage = auth.Always(auth.Allow), server.DelegateGarbage
	}, registry.Group{
		Name: "shop.example.com", Versions: []string{"v1", "v1beta1"},
		Resources: []registry.Resource{registry.New(shop.Definition())},
	})
}

// registration is an APIService for widgets, whose server is found as services/NAME.
func registration(name string, insecure bool, ca []byte) string {
	return fmt.Sprintf(`{"apiVersion":"apiregistration.k8s.io/v1","kind":"APIService",
"metadata":{"name":"v1.shop.example.com"},"spec":{"group":"shop.example.com","version":"v1",
"groupPriorityMinimum":19000,"versionPriority":10,"insecureSkipTLSVerify":%t,"caBundle":%q,
"service":{"namespace":"services","name":%q}}}`, insecure, base64.StdEncoding.EncodeToString(ca), name)
}

// available waits until the condition Available of the APIService of widgets has a status and a reason.
func available(t *testing.T, s *apitest.Server, status, reason string) {
	t.Helper()
	untilObject(t, s, services+"/v1.shop.example.com", func(service *apiregistrationv1.APIService) bool {
		c := apiregistrationv1.ConditionOf(service, apiregistrationv1.Available)
		return c != nil && string(c.Status) == status && c.Reason == reason
	})
}

// untilObject reads an object until a condition holds.
func untilObject[T any](t *testing.T, s *apitest.Server, path string, holds func(*T) bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		object := send[T](t, s, http.MethodGet, path, "", http.StatusOK)
		if holds(&object) {
			return
		}
		select {
		case <-ctx.Done():
			text, _ := json.Marshal(object)
			t.Fatalf("%s: %s", path, text)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// groupsOf returns the names of groups in discovery.
func groupsOf(t *testing.T, s *apitest.Server) (names []string) {
	t.Helper()
	for _, group := range send[metav1.APIGroupList](t, s, http.MethodGet, "/apis", "", http.StatusOK).Groups {
		names = append(names, group.Name)
	}
	return names
}

// TestAggregation: a group of another server is one of this server's, while that server can be reached.
func TestAggregation(t *testing.T) {
	var behind *apitest.Server
	var dir string
	front := startFeatures(t, func(c *server.Config) {
		dir = c.DataDir
		c.Services = func(_ context.Context, _, name string, _ int32) (string, error) {
			u, err := url.Parse(behind.URL)
			if name == "nowhere" {
				return "", fmt.Errorf("no such service")
			}
			return u.Host, err
		}
	}, &apiregistration.Feature{})
	behind = startBehind(t, filepath.Join(dir, "front-proxy", "ca.crt"))
	const widgets = "/apis/shop.example.com/v1/namespaces/ns/widgets"

	until(t, front, http.MethodGet, widgets, "", http.StatusNotFound)
	until(t, front, http.MethodPost, services, registration("widgets", true, nil), http.StatusCreated)
	available(t, front, "True", "Passed")
	until(t, front, http.MethodPost, widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget",
"metadata":{"name":"a"}}`, http.StatusCreated)
	until(t, behind, http.MethodGet, widgets+"/a", "", http.StatusOK)
	if groups := groupsOf(t, front); groups[0] != "apiregistration.k8s.io" || groups[1] != "shop.example.com" {
		t.Errorf("groups %v", groups) // the priority of the second is above all others
	}
	list := send[metav1.APIResourceList](t, front, http.MethodGet, "/apis/shop.example.com/v1", "", http.StatusOK)
	if !slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == "widgets" }) {
		t.Errorf("resources %+v", list)
	}
	for _, path := range []string{"/apis/shop.example.com/v1/namespaces/ns/x/../widgets/a",
		"/apis/shop.example.com/v1/namespaces//ns/widgets/a", "/apis/shop.example.com/v1/namespaces/ns%2fwidgets/a"} {
		until(t, front, http.MethodGet, path, "", http.StatusNotFound)
	}

	// The deletion of a namespace reaches into the other server, and waits for one that is away.
	until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"ns"}}`, http.StatusCreated)
	until(t, front, http.MethodDelete, "/api/v1/namespaces/ns", "", http.StatusOK)
	until(t, front, http.MethodGet, "/api/v1/namespaces/ns", "", http.StatusNotFound)
	until(t, behind, http.MethodGet, widgets+"/a", "", http.StatusNotFound)
	until(t, front, http.MethodPost, widgets, `{"apiVersion":"shop.example.com/v1","kind":"Widget",
"metadata":{"name":"a"}}`, http.StatusCreated)
	until(t, front, http.MethodPost, "/api/v1/namespaces", `{"metadata":{"name":"late"}}`, http.StatusCreated)

	until(t, front, http.MethodPatch, services+"/v1.shop.example.com",
		`{"spec":{"service":{"name":"nowhere"}}}`, http.StatusOK)
	available(t, front, "False", "FailedDiscoveryCheck")
	until(t, front, http.MethodGet, widgets, "", http.StatusServiceUnavailable)
	until(t, front, http.MethodGet, "/openapi/v2", "", http.StatusOK)
	if groups := groupsOf(t, front); !slices.Contains(groups, "shop.example.com") {
		t.Errorf("groups %v", groups)
	}
	until(t, front, http.MethodDelete, "/api/v1/namespaces/late", "", http.StatusOK)
	untilObject(t, front, "/api/v1/namespaces/late", func(namespace *corev1.Namespace) bool {
		return slices.ContainsFunc(namespace.Status.Conditions, func(c corev1.NamespaceCondition) bool {
			return c.Type == corev1.NamespaceDeletionDiscoveryFailure && c.Status == corev1.ConditionTrue
		})
	})
	until(t, front, http.MethodPatch, services+"/v1.shop.example.com",
		`{"spec":{"service":{"name":"widgets"}}}`, http.StatusOK)
	available(t, front, "True", "Passed")
	until(t, front, http.MethodGet, widgets+"/a", "", http.StatusOK)
	until(t, front, http.MethodGet, "/api/v1/namespaces/late", "", http.StatusNotFound)
	until(t, front, http.MethodDelete, services+"/v1.shop.example.com", "", http.StatusOK)
	until(t, front, http.MethodGet, widgets, "", http.StatusNotFound)
	if groups := groupsOf(t, front); slices.Contains(groups, "shop.example.com") {
		t.Errorf("groups %v", groups)
	}
}

// TestRegistration: the versions that a server serves itself have APIServices, which come and go with definitions, and
// which nobody's own APIService loses to.
func TestRegistration(t *testing.T) {
	front := startFeatures(t, func(*server.Config) {}, &apiregistration.Feature{})
	labelled := func(name, value string) {
		t.Helper()
		until(t, front, http.MethodGet, services+"/"+name, "", http.StatusOK)
		untilObject(t, front, services+"/"+name, func(service *apiregistrationv1.APIService) bool {
			return service.Labels["kube-aggregator.kubernetes.io/automanaged"] == value &&
				apiregistrationv1.IsAvailable(service)
		})
	}
	labelled("v1.", "onstart")
	labelled("v1.rbac.authorization.k8s.io", "onstart")
	until(t, front, http.MethodGet, services+"/v1.apiregistration.k8s.io", "", http.StatusNotFound)
	const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	until(t, front, http.MethodPost, definitions, gadgets, http.StatusCreated)
	labelled("v1.shop.example.com", "true")
	until(t, front, http.MethodDelete, services+"/v1.shop.example.com", "", http.StatusOK)
	labelled("v1.shop.example.com", "true")
	until(t, front, http.MethodDelete, definitions+"/gadgets.shop.example.com", "", http.StatusOK)
	until(t, front, http.MethodGet, services+"/v1.shop.example.com", "", http.StatusNotFound)

	until(t, front, http.MethodPost, services, registration("nowhere", true, nil), http.StatusCreated)
	until(t, front, http.MethodPost, definitions, gadgets, http.StatusCreated)
	until(t, front, http.MethodGet, "/apis/shop.example.com/v1/gadgets", "", http.StatusServiceUnavailable)
	available(t, front, "False", "FailedDiscoveryCheck")
	until(t, front, http.MethodDelete, services+"/v1.shop.example.com", "", http.StatusOK)
	until(t, front, http.MethodGet, "/apis/shop.example.com/v1/gadgets", "", http.StatusOK)
	labelled("v1.shop.example.com", "true")
	if groups := groupsOf(t, front); strings.Join(groups[:3], " ") !=
		"apiregistration.k8s.io events.k8s.io authentication.k8s.io" || groups[len(groups)-1] != "shop.example.com" {
		t.Errorf("groups %v", groups)
	}
}
