package rbac

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
	"testing"

	"apigen.dev/runtime/internal/access/rbac"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac/bootstrappolicy"
)

var update = flag.Bool("update", false, "write the bootstrap policy anew")

const policyFile = "../../../internal/access/rbac/policy.yaml"

// TestPolicy: the bootstrap roles and bindings are those of kube-apiserver.
func TestPolicy(t *testing.T) {
	want := kubernetesPolicy()
	if *update {
		if err := os.WriteFile(policyFile, render(t, want), 0o644); err != nil {
			t.Fatal(err)
		}
		t.Skip("written; run the test again")
	}
	got, err := rbac.KubernetesPolicy()
	if err != nil {
		t.Fatal(err)
	}
	same(t, got.ClusterRoles, want.ClusterRoles)
	same(t, got.ClusterRoleBindings, want.ClusterRoleBindings)
	same(t, got.Roles, want.Roles)
	same(t, got.RoleBindings, want.RoleBindings)
}

func same[T metav1.Object](t *testing.T, got, want []T) {
	t.Helper()
	byName := map[string]T{}
	for _, object := range got {
		byName[object.GetNamespace()+"/"+object.GetName()] = object
	}
	if len(got) != len(want) || len(want) == 0 {
		t.Errorf("%d objects, want %d", len(got), len(want))
	}
	for _, object := range want {
		if ours := byName[object.GetNamespace()+"/"+object.GetName()]; !equality.Semantic.DeepEqual(ours, object) {
			t.Errorf("%s: %+v\nwant %+v", object.GetName(), ours, object)
		}
	}
}

// kubernetesPolicy is the policy of Kubernetes' own code, sorted.
func kubernetesPolicy() (p rbac.Policy) {
	p.ClusterRoles = pointers(bootstrappolicy.ClusterRoles(), bootstrappolicy.ControllerRoles())
	p.ClusterRoleBindings = pointers(bootstrappolicy.ClusterRoleBindings(), bootstrappolicy.ControllerRoleBindings())
	p.Roles = pointers(slices.Collect(maps.Values(bootstrappolicy.NamespaceRoles()))...)
	p.RoleBindings = pointers(slices.Collect(maps.Values(bootstrappolicy.NamespaceRoleBindings()))...)
	byName(p.ClusterRoles)
	byName(p.ClusterRoleBindings)
	byName(p.Roles)
	byName(p.RoleBindings)
	return p
}

func pointers[T any](lists ...[]T) (all []*T) {
	for _, object := range slices.Concat(lists...) {
		all = append(all, &object)
	}
	return all
}

func byName[T metav1.Object](objects []T) {
	slices.SortFunc(objects, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
	})
}

// render writes a policy with a line for each rule and each subject.
func render(t *testing.T, p rbac.Policy) []byte {
	var out bytes.Buffer
	out.WriteString(`# The roles and bindings that kube-apiserver 1.37 makes when it starts, without the label and the
# annotation that all of them have. TestPolicy in runtime/conformance/kubernetes/rbac compares them, and
# writes this file: go test -run TestPolicy . -update
`)
	line := func(head string, value any) {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		out.WriteString(head)
		out.Write(text)
		out.WriteString("\n")
	}
	object := func(o metav1.Object) {
		labels := maps.Clone(o.GetLabels())
		delete(labels, "kubernetes.io/bootstrapping")
		annotations := maps.Clone(o.GetAnnotations())
		delete(annotations, rbacv1.AutoUpdateAnnotationKey)
		line("- metadata: ", struct {
			Namespace   string            `json:"namespace,omitempty"`
			Name        string            `json:"name"`
			Labels      map[string]string `json:"labels,omitempty"`
			Annotations map[string]string `json:"annotations,omitempty"`
		}{o.GetNamespace(), o.GetName(), labels, annotations})
	}
	rules := func(rules []rbacv1.PolicyRule) {
		if len(rules) > 0 {
			out.WriteString("  rules:\n")
		}
		for _, r := range rules {
			line("  - ", r)
		}
	}
	binding := func(ref rbacv1.RoleRef, subjects []rbacv1.Subject) {
		line("  roleRef: ", ref)
		if len(subjects) > 0 {
			out.WriteString("  subjects:\n")
		}
		for _, s := range subjects {
			line("  - ", s)
		}
	}
	out.WriteString("clusterRoles:\n")
	for _, r := range p.ClusterRoles {
		object(r)
		if r.AggregationRule != nil {
			line("  aggregationRule: ", r.AggregationRule)
		}
		rules(r.Rules)
	}
	out.WriteString("clusterRoleBindings:\n")
	for _, b := range p.ClusterRoleBindings {
		object(b)
		binding(b.RoleRef, b.Subjects)
	}
	out.WriteString("roles:\n")
	for _, r := range p.Roles {
		object(r)
		rules(r.Rules)
	}
	out.WriteString("roleBindings:\n")
	for _, b := range p.RoleBindings {
		object(b)
		binding(b.RoleRef, b.Subjects)
	}
	return out.Bytes()
}
