package rbac

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// world is a set of roles and bindings, sorted by their names. It is what Kubernetes' authorizer reads.
type world struct {
	clusterRoles    []*rbacv1.ClusterRole
	roles           []*rbacv1.Role
	clusterBindings []*rbacv1.ClusterRoleBinding
	bindings        []*rbacv1.RoleBinding
	// stored makes the words of errors those of storage, which differ from those of an informer's cache.
	stored bool
}

func (w *world) notFound(kind, name string) error {
	if w.stored {
		kind += "s"
	}
	return apierrors.NewNotFound(rbacv1.Resource(kind), name)
}

func find[T metav1.Object](all []T, namespace, name string) (found T, ok bool) {
	i, ok := slices.BinarySearchFunc(all, name, func(o T, name string) int {
		return cmp.Or(cmp.Compare(o.GetNamespace(), namespace), cmp.Compare(o.GetName(), name))
	})
	if ok {
		found = all[i]
	}
	return found, ok
}

// GetRole implements Kubernetes' RoleGetter.
func (w *world) GetRole(_ context.Context, namespace, name string) (*rbacv1.Role, error) {
	if r, ok := find(w.roles, namespace, name); ok {
		return r, nil
	}
	return nil, w.notFound("role", name)
}

// GetClusterRole implements Kubernetes' ClusterRoleGetter.
func (w *world) GetClusterRole(_ context.Context, name string) (*rbacv1.ClusterRole, error) {
	if r, ok := find(w.clusterRoles, "", name); ok {
		return r, nil
	}
	return nil, w.notFound("clusterrole", name)
}

// ListRoleBindings implements Kubernetes' RoleBindingLister.
func (w *world) ListRoleBindings(_ context.Context, namespace string) (all []*rbacv1.RoleBinding, _ error) {
	for _, b := range w.bindings {
		if b.Namespace == namespace {
			all = append(all, b)
		}
	}
	return all, nil
}

// ListClusterRoleBindings implements Kubernetes' ClusterRoleBindingLister.
func (w *world) ListClusterRoleBindings(context.Context) ([]*rbacv1.ClusterRoleBinding, error) {
	return w.clusterBindings, nil
}

// The words of random objects: few, so that they meet.
var (
	names      = []string{"a", "b", "c", "d"}
	namespaces = []string{"ns", "other"}
	users      = []string{"ann", "bob", "system:serviceaccount:ns:a", "system:serviceaccount:other:b",
		"system:serviceaccount:", ""}
	groups      = []string{"dev", "ops", "system:authenticated", "system:serviceaccounts", ""}
	verbs       = []string{"get", "list", "create", "deletecollection", "*", ""}
	apiGroups   = []string{"", "shop.example.com", "*", "apps"}
	resources   = []string{"x", "y", "x/status", "x/scale", "*/status", "*/scale", "*", "*/*", "x/*", "", "/status"}
	objectNames = []string{"a", "b", ""}
	paths       = []string{"/healthz", "/healthz/*", "/healthz/etcd", "*", "/a*", "/a**", "/a*b", "/", ""}
)

// dice makes random objects.
type dice struct{ *rand.Rand }

func (d dice) one(words []string) string { return words[d.IntN(len(words))] }

func (d dice) some(words []string, most int) (all []string) {
	for range d.IntN(most + 1) {
		all = append(all, d.one(words))
	}
	return all
}

// rules returns random rules. A pure one is for resources or for paths, as valid ones are.
func (d dice) rules(most int, pure bool) (all []rbacv1.PolicyRule) {
	for range d.IntN(most + 1) {
		rule := rbacv1.PolicyRule{Verbs: d.some(verbs, 3)}
		if ofPaths := d.IntN(4) == 0; !ofPaths || !pure && d.IntN(3) == 0 {
			rule.APIGroups, rule.Resources = d.some(apiGroups, 2), d.some(resources, 3)
			if d.IntN(3) == 0 {
				rule.ResourceNames = d.some(objectNames, 2)
			}
		}
		if len(rule.Resources) == 0 || !pure && d.IntN(3) == 0 {
			rule.NonResourceURLs = d.some(paths, 2)
		}
		if pure && len(rule.NonResourceURLs) > 0 {
			rule.ResourceNames = nil
		}
		all = append(all, rule)
	}
	return all
}

func (d dice) ref() rbacv1.RoleRef {
	kind := "ClusterRole"
	switch d.IntN(20) {
	case 0:
		kind = "Deployment"
	case 1, 2, 3, 4, 5, 6, 7:
		kind = "Role"
	}
	return rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: kind, Name: d.one(names)}
}

func (d dice) subjects() (all []rbacv1.Subject) {
	for range d.IntN(4) {
		switch d.IntN(7) {
		case 0:
			all = append(all, rbacv1.Subject{Kind: "ServiceAccount", Name: d.one(names),
				Namespace: d.one([]string{"", "ns", "other"})})
		case 1:
			all = append(all, rbacv1.Subject{Kind: "Robot", Name: d.one(names)})
		case 2, 3:
			all = append(all, rbacv1.Subject{Kind: "User", Name: d.one(users)})
		default:
			all = append(all, rbacv1.Subject{Kind: "Group", Name: d.one(groups)})
		}
	}
	return all
}

func (d dice) meta(namespaced bool) metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: d.one(names)}
	if namespaced {
		m.Namespace = d.one(namespaces)
	}
	return m
}

// change puts or deletes some objects of a kind, and returns all objects, those that were put, and those deleted.
func change[T metav1.Object](d dice, all []T, most int, object func() T) (now, put, deleted []T) {
	now = slices.Clone(all)
	touched := map[string]bool{}
	for range d.IntN(most + 1) {
		o := object()
		if key := o.GetNamespace() + "/" + o.GetName(); touched[key] {
			continue
		} else {
			touched[key] = true
		}
		i, found := slices.BinarySearchFunc(now, o, func(a, b T) int {
			return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
		})
		switch remove := d.IntN(3) == 0; {
		case remove && found:
			now, deleted = slices.Delete(now, i, i+1), append(deleted, o)
		case remove:
			deleted = append(deleted, o)
		case found:
			now[i], put = o, append(put, o)
		default:
			now, put = slices.Insert(now, i, o), append(put, o)
		}
	}
	return now, put, deleted
}
