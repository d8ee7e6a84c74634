package builtin_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"apigen.dev/runtime/apitest"
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const gadgets = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
"metadata":{"name":"gadgets.shop.example.com"},"spec":{"group":"shop.example.com","scope":"Namespaced",
"names":{"kind":"Gadget","plural":"gadgets"},"versions":[{"name":"v1","served":true,"storage":true,
"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`

// complete starts a server with all ready-made features and with definitions.
func complete(t *testing.T) *apitest.Server { return startFeatures(t, func(*server.Config) {}) }

// startFeatures starts a server with all ready-made features, with definitions, and with further features, after change
// has changed its configuration.
func startFeatures(
	t *testing.T, change func(config *server.Config), further ...server.Feature,
) *apitest.Server {
	t.Helper()
	var groups []registry.Group
	features := append(append(builtin.Standalone(), &apiextensions.Feature{}), further...)
	for _, feature := range features {
		groups = append(groups, feature.Groups()...)
	}
	return apitest.StartWith(t, func(c *server.Config) {
		c.DataDir = t.TempDir()
		change(c)
		flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
		for _, feature := range features {
			feature.AddFlags(flags)
		}
		for _, feature := range features {
			if err := c.Use(t.Context(), feature); err != nil {
				t.Fatal(err)
			}
		}
	}, groups...)
}

func codeOf(t *testing.T, s *apitest.Server, method, path, body string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	if method == http.MethodPatch {
		request.Header.Set("Content-Type", "application/merge-patch+json")
	}
	response, err := s.Client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// until asks until the answer has a code.
func until(t *testing.T, s *apitest.Server, method, path, body string, code int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	for {
		got := codeOf(t, s, method, path, body)
		if got == code {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatalf("%s %s: %d, want %d", method, path, got, code)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// What governs other kinds governs custom resources: quotas, policies, the garbage collector and namespaces.
func TestCustomResources(t *testing.T) {
	s := complete(t)
	const (
		namespaces = "/api/v1/namespaces"
		collection = "/apis/shop.example.com/v1/namespaces/ns/gadgets"
		admission  = "/apis/admissionregistration.k8s.io/v1/"
	)
	object := func(name string, size int) string {
		return fmt.Sprintf(`{"apiVersion":"shop.example.com/v1","kind":"Gadget","metadata":{"name":%q},"size":%d}`,
			name, size)
	}
	until(t, s, http.MethodPost, namespaces, `{"metadata":{"name":"ns"}}`, http.StatusCreated)
	until(t, s, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets, http.StatusCreated)
	until(t, s, http.MethodGet, collection, "", http.StatusOK)
	until(t, s, http.MethodPost, namespaces+"/ns/resourcequotas",
		`{"metadata":{"name":"q"},"spec":{"hard":{"count/gadgets.shop.example.com":"2"}}}`, http.StatusCreated)
	until(t, s, http.MethodPost, admission+"validatingadmissionpolicies", `{"metadata":{"name":"p"},"spec":{
"matchConstraints":{"resourceRules":[{"operations":["CREATE"],"apiGroups":["shop.example.com"],"apiVersions":["v1"],
"resources":["gadgets"]}]},"validations":[{"expression":"object.size != 4"}]}}`, http.StatusCreated)
	until(t, s, http.MethodPost, admission+"validatingadmissionpolicybindings",
		`{"metadata":{"name":"b"},"spec":{"policyName":"p","validationActions":["Deny"]}}`, http.StatusCreated)
	until(t, s, http.MethodPost, collection+"?dryRun=All", object("four", 4), http.StatusUnprocessableEntity)
	until(t, s, http.MethodPost, collection, object("a", 1), http.StatusCreated)
	until(t, s, http.MethodPost, collection, object("b", 2), http.StatusCreated)
	until(t, s, http.MethodPost, collection+"?dryRun=All", object("c", 3), http.StatusForbidden)

	uid := send[metav1.PartialObjectMetadata](t, s, http.MethodGet, collection+"/a", "", http.StatusOK).UID
	until(t, s, http.MethodPost, namespaces+"/ns/configmaps", fmt.Sprintf(`{"metadata":{"name":"owned",
"ownerReferences":[{"apiVersion":"shop.example.com/v1","kind":"Gadget","name":"a","uid":%q}]}}`, uid),
		http.StatusCreated)
	until(t, s, http.MethodDelete, collection+"/a", "", http.StatusOK)
	until(t, s, http.MethodGet, namespaces+"/ns/configmaps/owned", "", http.StatusNotFound)
	until(t, s, http.MethodDelete, namespaces+"/ns", "", http.StatusOK)
	until(t, s, http.MethodGet, namespaces+"/ns", "", http.StatusNotFound)
	until(t, s, http.MethodGet, collection+"/b", "", http.StatusNotFound)
}

// TestUnknownFieldsInV2: OpenAPI v2 names no properties of a kind whose objects keep unknown fields: kubectl would take
// all others for mistakes.
func TestUnknownFieldsInV2(t *testing.T) {
	s := complete(t)
	until(t, s, http.MethodPost, "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", gadgets, http.StatusCreated)
	until(t, s, http.MethodGet, "/apis/shop.example.com/v1/gadgets", "", http.StatusOK)
	const want = `{"type":"object","x-kubernetes-group-version-kind":[{"group":"shop.example.com","kind":"Gadget",` +
		`"version":"v1"}]}`
	untilObject(t, s, "/openapi/v2", func(document *struct{ Definitions map[string]json.RawMessage }) bool {
		found := document.Definitions["com.example.shop.v1.Gadget"]
		if found != nil && string(found) != want {
			t.Fatalf("%s", found)
		}
		return found != nil
	})
}
