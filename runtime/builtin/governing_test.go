package builtin_test

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/apiregistration"
	apiregistrationv1 "apigen.dev/runtime/builtin/apiregistration/v1"
	"apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/server"
	rbacv1 "k8s.io/api/rbac/v1"
)

// TestGoverningGroupsStay: whoever may write APIServices can't have another server answer for a group by which this one
// governs itself, and can always take back what they wrote.
func TestGoverningGroupsStay(t *testing.T) {
	behind := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.URL.Path, "/openapi") && r.Method != http.MethodGet {
			t.Errorf("the other server got %s %s", r.Method, r.URL.Path)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "APIResourceList", "resources": []any{}})
	}))
	defer behind.Close()
	front := startFeatures(t, func(c *server.Config) {
		c.Services = func(context.Context, string, string, int32) (string, error) {
			return behind.Listener.Addr().String(), nil
		}
	}, &apiregistration.Feature{})
	for _, name := range []string{"v1.apiregistration.k8s.io", "v1.authentication.k8s.io",
		"v1.rbac.authorization.k8s.io", "v1.apiextensions.k8s.io", "v1.admissionregistration.k8s.io"} {
		version, group, _ := strings.Cut(name, ".")
		object := strings.NewReplacer("v1.shop.example.com", name, `"shop.example.com"`, `"`+group+`"`,
			`"version":"v1"`, `"version":"`+version+`"`).Replace(registration("evil", true, nil))
		method, path := http.MethodPost, services
		if name != "v1.apiregistration.k8s.io" { // the others are registered, by the server
			until(t, front, http.MethodGet, services+"/"+name, "", http.StatusOK)
			method, path = http.MethodPatch, services+"/"+name
			object = strings.Replace(object, `"metadata":{`,
				`"metadata":{"labels":{"kube-aggregator.kubernetes.io/automanaged":null},`, 1)
		}
		send[apiregistrationv1.APIService](t, front, method, path, object, map[string]int{
			http.MethodPost: http.StatusCreated, http.MethodPatch: http.StatusOK}[method])
		untilObject(t, front, services+"/"+name, func(service *apiregistrationv1.APIService) bool {
			c := apiregistrationv1.ConditionOf(service, apiregistrationv1.Available)
			return c != nil && c.Status == apiregistrationv1.ConditionFalse && c.Reason == "ServedLocally"
		})
	}
	until(t, front, http.MethodPost, "/apis/authentication.k8s.io/v1/tokenreviews",
		`{"apiVersion":"authentication.k8s.io/v1","kind":"TokenReview","spec":{"token":"secret"}}`, http.StatusCreated)
	until(t, front, http.MethodGet, "/apis/rbac.authorization.k8s.io/v1/clusterroles", "", http.StatusOK)
	until(t, front, http.MethodDelete, services+"/v1.apiregistration.k8s.io", "", http.StatusOK)
}

// TestRolesOfReadyMadeGroups: no role below cluster-admin may do more with the ready-made groups than kube-apiserver's
// role of the same name.
func TestRolesOfReadyMadeGroups(t *testing.T) {
	policy, err := rbac.KubernetesPolicy()
	if err != nil {
		t.Fatal(err)
	}
	var served []*verb.Info
	features := append(builtin.Standalone(), &apiextensions.Feature{}, &apiregistration.Feature{})
	for _, feature := range features {
		for _, group := range feature.Groups() {
			for _, resource := range group.Resources {
				served = append(served, resource.Info())
			}
		}
	}
	before := len(policy.ClusterRoles)
	policy.AddKinds(served)
	for _, role := range policy.ClusterRoles[before:] {
		t.Errorf("the policy gained the role %s: %v", role.Name, role.Rules)
	}
}

// TestWritersOfPublishedAuthorities: which users of the default roles may write each ConfigMap in which servers and
// Pods read whom they are to believe. Besides administrators, these are controllers alone.
func TestWritersOfPublishedAuthorities(t *testing.T) {
	policy, err := rbac.KubernetesPolicy()
	if err != nil {
		t.Fatal(err)
	}
	const account = "ServiceAccount "
	always := []string{ // they write objects of all kinds, or publish authorities in all namespaces
		"Group system:masters", account + "generic-garbage-collector", account + "namespace-controller",
		account + "root-ca-cert-publisher", account + "storage-version-migrator-controller",
	}
	for _, row := range []struct {
		namespace, name string
		want            []string
	}{
		// A cloud provider creates config maps, and changes none.
		{"kube-system", "extension-apiserver-authentication", append([]string{account + "cloud-provider"}, always...)},
		{"kube-system", "kube-root-ca.crt", append([]string{account + "cloud-provider"}, always...)},
		{"kube-public", "cluster-info", append([]string{account + "bootstrap-signer"}, always...)},
		{"default", "kube-root-ca.crt", always},
	} {
		writers := map[string]bool{}
		add := func(rules []rbacv1.PolicyRule, subjects []rbacv1.Subject) {
			if !slices.ContainsFunc(rules, func(r rbacv1.PolicyRule) bool { return writesConfigMap(r, row.name) }) {
				return
			}
			for _, subject := range subjects {
				writers[subject.Kind+" "+subject.Name] = true
			}
		}
		for _, role := range policy.ClusterRoles {
			for _, binding := range policy.ClusterRoleBindings {
				if binding.RoleRef.Name == role.Name {
					add(role.Rules, binding.Subjects)
				}
			}
		}
		for _, role := range policy.Roles {
			for _, binding := range policy.RoleBindings {
				if role.Namespace == row.namespace && binding.Namespace == row.namespace &&
					binding.RoleRef.Kind == "Role" && binding.RoleRef.Name == role.Name {
					add(role.Rules, binding.Subjects)
				}
			}
		}
		slices.Sort(row.want)
		if got := slices.Sorted(maps.Keys(writers)); !slices.Equal(got, row.want) {
			t.Errorf("%s/%s: %q may write it, want %q", row.namespace, row.name, got, row.want)
		}
	}
}

// writesConfigMap reports whether a rule lets somebody change, replace or delete a ConfigMap of a name.
func writesConfigMap(rule rbacv1.PolicyRule, name string) bool {
	has := func(list []string, wanted ...string) bool {
		return slices.ContainsFunc(list, func(s string) bool { return s == "*" || slices.Contains(wanted, s) })
	}
	return has(rule.Verbs, "create", "update", "patch", "delete", "deletecollection") && has(rule.APIGroups, "") &&
		has(rule.Resources, "configmaps") && (len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, name))
}
