package rbac

import (
	"context"
	"math/rand/v2"
	"testing"

	"apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/component-helpers/auth/rbac/reconciliation"
)

// TestReconcile: a start brings an object to the state to which kube-apiserver's start brings it.
func TestReconcile(t *testing.T) {
	d := dice{rand.New(rand.NewPCG(13, 2))}
	index := &rbac.Index{}
	index.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Reset: true})
	index.ApplyRoles(reach.Changes[*rbacv1.Role]{Reset: true})
	index.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{Reset: true})
	index.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{Reset: true})
	for range 10_000 {
		role, wantedRole := &slot[*rbacv1.ClusterRole]{}, d.clusterRole()
		binding, wantedBinding := &slot[*rbacv1.ClusterRoleBinding]{}, d.clusterRoleBinding()
		if d.IntN(10) > 0 {
			role.object, binding.object = d.clusterRole(), d.clusterRoleBinding()
		}
		foundRole, foundBinding := role.object.DeepCopy(), binding.object.DeepCopy()
		theirRole, theirBinding := reconcile(t, foundRole, wantedRole, foundBinding, wantedBinding)
		ctx := reach.WithObjects(reach.WithObjects(t.Context(), role), binding)
		ctx = reach.WithObjects(reach.WithObjects(ctx, &slot[*rbacv1.Role]{}), &slot[*rbacv1.RoleBinding]{})
		err := rbac.Bootstrap(ctx, rbac.Policy{
			ClusterRoles:        []*rbacv1.ClusterRole{wantedRole},
			ClusterRoleBindings: []*rbacv1.ClusterRoleBinding{wantedBinding},
		}, index)
		if err != nil || !equality.Semantic.DeepEqual(role.object, theirRole) {
			t.Fatalf("%v: found %+v\nwanted %+v\nour state is   %+v\nKubernetes' is %+v", err, foundRole, wantedRole,
				role.object, theirRole)
		}
		if !equality.Semantic.DeepEqual(binding.object, theirBinding) {
			t.Fatalf("found %+v\nwanted %+v\nour state is   %+v\nKubernetes' is %+v", foundBinding, wantedBinding,
				binding.object, theirBinding)
		}
	}
}

// reconcile returns the states to which Kubernetes' code brings a role and a binding.
func reconcile(
	t *testing.T, role, wantedRole *rbacv1.ClusterRole, binding, wantedBinding *rbacv1.ClusterRoleBinding,
) (*rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding) {
	t.Helper()
	roles, bindings := &roleClient{role.DeepCopy()}, &bindingClient{binding.DeepCopy()}
	ofRole := reconciliation.ReconcileRoleOptions{
		Role: reconciliation.ClusterRoleRuleOwner{ClusterRole: wantedRole.DeepCopy()}, Client: roles, Confirm: true,
	}
	if _, err := ofRole.Run(); err != nil {
		t.Fatal(err)
	}
	ofBinding := reconciliation.ReconcileRoleBindingOptions{
		RoleBinding: reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: wantedBinding.DeepCopy()},
		Client:      bindings, Confirm: true,
	}
	if _, err := ofBinding.Run(); err != nil {
		t.Fatal(err)
	}
	return roles.object, bindings.object
}

func (d dice) notes(values ...string) map[string]string {
	all := map[string]string{}
	for range d.IntN(3) {
		all[d.one([]string{"x", "y"})] = d.one(values)
	}
	return all
}

func (d dice) objectMeta() metav1.ObjectMeta {
	m := metav1.ObjectMeta{Name: "a", Labels: d.notes("1", "2"), Annotations: d.notes("1", "2")}
	if d.IntN(8) == 0 {
		m.Annotations[rbacv1.AutoUpdateAnnotationKey] = d.one([]string{"true", "false"})
	}
	return m
}

func (d dice) clusterRole() *rbacv1.ClusterRole {
	r := &rbacv1.ClusterRole{ObjectMeta: d.objectMeta(), Rules: d.rules(3, true)}
	if d.IntN(3) == 0 {
		r.AggregationRule = &rbacv1.AggregationRule{}
		for _, i := range d.Perm(len(names))[:1+d.IntN(2)] {
			r.AggregationRule.ClusterRoleSelectors = append(r.AggregationRule.ClusterRoleSelectors,
				metav1.LabelSelector{MatchLabels: map[string]string{names[i]: "true"}})
		}
	}
	return r
}

func (d dice) clusterRoleBinding() *rbacv1.ClusterRoleBinding {
	b := &rbacv1.ClusterRoleBinding{ObjectMeta: d.objectMeta(), Subjects: d.subjects()}
	b.RoleRef = rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "a"}
	if d.IntN(5) == 0 {
		b.RoleRef.Name = "b"
	}
	return b
}

// slot has room for one object, and lists none, so that nothing is aggregated.
type slot[T interface {
	metav1.Object
	comparable
}] struct{ object T }

var missing = apierrors.NewNotFound(rbacv1.Resource("objects"), "a")

func (s *slot[T]) Get(context.Context, string, string) (T, error) { return s.object, nil }

func (s *slot[T]) List(context.Context, string, labels.Selector) ([]T, error) { return nil, nil }

func (s *slot[T]) Create(_ context.Context, obj T, _ reach.Write) (T, error) {
	s.object = obj
	return obj, nil
}

func (s *slot[T]) Update(
	_ context.Context, _, _ string, _ reach.Write, change func(T) error,
) (T, error) {
	var none T
	if s.object == none {
		return none, missing
	}
	return s.object, change(s.object)
}

func (s *slot[T]) Delete(context.Context, string, string, metav1.DeleteOptions) error {
	var none T
	s.object = none
	return nil
}

func (s *slot[T]) Follow(context.Context, string, func(reach.Changes[T])) error { return nil }

// roleClient is Kubernetes' access to one role.
type roleClient struct{ object *rbacv1.ClusterRole }

func (c *roleClient) Get(string, string) (reconciliation.RuleOwner, error) {
	if c.object == nil {
		return nil, missing
	}
	return reconciliation.ClusterRoleRuleOwner{ClusterRole: c.object}, nil
}

func (c *roleClient) Create(r reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	return c.Update(r)
}

func (c *roleClient) Update(r reconciliation.RuleOwner) (reconciliation.RuleOwner, error) {
	c.object = r.GetObject().(*rbacv1.ClusterRole)
	return r, nil
}

// bindingClient is Kubernetes' access to one binding.
type bindingClient struct{ object *rbacv1.ClusterRoleBinding }

func (c *bindingClient) Get(string, string) (reconciliation.RoleBinding, error) {
	if c.object == nil {
		return nil, missing
	}
	return reconciliation.ClusterRoleBindingAdapter{ClusterRoleBinding: c.object}, nil
}

func (c *bindingClient) Delete(string, string, types.UID) error {
	c.object = nil
	return nil
}

func (c *bindingClient) Create(b reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	return c.Update(b)
}

func (c *bindingClient) Update(b reconciliation.RoleBinding) (reconciliation.RoleBinding, error) {
	c.object = b.GetObject().(*rbacv1.ClusterRoleBinding)
	return b, nil
}
