package rbac

import (
	_ "embed" // policy.yaml
	"fmt"

	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"
)

// Policy is a set of roles and bindings that a server makes when it starts.
type Policy struct {
	ClusterRoles        []*rbacv1.ClusterRole        `json:"clusterRoles"`
	ClusterRoleBindings []*rbacv1.ClusterRoleBinding `json:"clusterRoleBindings"`
	Roles               []*rbacv1.Role               `json:"roles"`
	RoleBindings        []*rbacv1.RoleBinding        `json:"roleBindings"`
}

// policyFile has the roles and bindings of kube-apiserver 1.37, without the label and the annotation that all of them
// have. A test compares it with the original, and writes it.
//
//go:embed policy.yaml
var policyFile []byte

const (
	// bootstrapLabel marks the objects that a server makes when it starts.
	bootstrapLabel = "kubernetes.io/bootstrapping"
	bootstrapValue = "rbac-defaults"
	// autoUpdate is the annotation by which an administrator keeps a server from changing such an object.
	autoUpdate = rbacv1.AutoUpdateAnnotationKey
)

// KubernetesPolicy returns the roles and bindings that kube-apiserver makes when it starts. They belong to the caller.
func KubernetesPolicy() (Policy, error) {
	var p Policy
	if err := yaml.UnmarshalStrict(policyFile, &p); err != nil {
		return p, fmt.Errorf("the bootstrap policy: %w", err)
	}
	for _, object := range p.objects() {
		mark(object)
	}
	return p, nil
}

// objects returns all objects of the policy.
func (p *Policy) objects() (all []metav1.Object) {
	for _, o := range p.ClusterRoles {
		all = append(all, o)
	}
	for _, o := range p.ClusterRoleBindings {
		all = append(all, o)
	}
	for _, o := range p.Roles {
		all = append(all, o)
	}
	for _, o := range p.RoleBindings {
		all = append(all, o)
	}
	return all
}

// mark adds the label and the annotation of objects that a server makes when it starts.
func mark(object metav1.Object) {
	object.SetLabels(merged(object.GetLabels(), map[string]string{bootstrapLabel: bootstrapValue}))
	object.SetAnnotations(merged(object.GetAnnotations(), map[string]string{autoUpdate: "true"}))
}

// merged returns the entries of two maps. Those of the second win.
func merged(first, second map[string]string) map[string]string {
	if len(first)+len(second) == 0 {
		return nil
	}
	all := make(map[string]string, len(first)+len(second))
	for _, entries := range []map[string]string{first, second} {
		for key, value := range entries {
			all[key] = value
		}
	}
	return all
}
