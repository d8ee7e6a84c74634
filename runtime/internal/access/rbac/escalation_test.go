package rbac

import (
	"context"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shelf has objects by namespace and name, for one that reads them.
type shelf[T any] struct {
	reach.Objects[T]
	resource string
	objects  map[string]T
}

func (s shelf[T]) Get(_ context.Context, namespace, name string) (none T, err error) {
	if obj, ok := s.objects[keyOf(namespace, name)]; ok {
		return obj, nil
	}
	return none, apierrors.NewNotFound(schema.GroupResource{Group: rbacv1.GroupName, Resource: s.resource}, name)
}

// as is the context of a request by a user, who holds what an index of two roles gives.
func as(t *testing.T, name string, info *request.Info) context.Context {
	t.Helper()
	view := clusterRole("view", rule("get list watch", "shop.example.com", "widgets"))
	edit := clusterRole("edit", rule("*", "shop.example.com", "widgets gadgets"))
	one := roleIn("ns", "one", rule("get", "shop.example.com", "widgets", "a"))
	x := &Index{}
	x.ApplyClusterRoles(reach.Changes[*rbacv1.ClusterRole]{Reset: true, Put: []*rbacv1.ClusterRole{
		view, edit, clusterRole("escalator", rule("escalate", rbacv1.GroupName, "clusterroles", "mine")),
		clusterRole("binder", rule("bind", rbacv1.GroupName, "clusterroles", "edit")),
		clusterRole("all", allRules...),
	}})
	x.ApplyRoles(reach.Changes[*rbacv1.Role]{Reset: true, Put: []*rbacv1.Role{one}})
	x.ApplyClusterRoleBindings(reach.Changes[*rbacv1.ClusterRoleBinding]{
		Reset: true, Put: []*rbacv1.ClusterRoleBinding{
			clusterBinding("view", "view", user("ann")), clusterBinding("escalator", "escalator", user("eva")),
			clusterBinding("binder", "binder", user("bob")), clusterBinding("all", "all", user("root")),
			clusterBinding("stray", "gone", user("stray")),
		},
	})
	x.ApplyRoleBindings(reach.Changes[*rbacv1.RoleBinding]{Reset: true})
	ctx := reach.WithObjects(t.Context(),
		shelf[*rbacv1.ClusterRole]{nil, "clusterroles", map[string]*rbacv1.ClusterRole{"view": view, "edit": edit}})
	ctx = reach.WithObjects(ctx, shelf[*rbacv1.Role]{nil, "roles", map[string]*rbacv1.Role{"ns/one": one}})
	ctx = auth.WithAccess(ctx, &auth.Access{Authorizer: auth.Union{auth.MastersOnly{}, auth.Union{x}}})
	who := &auth.User{Name: name, Groups: []string{"people"}}
	if name == "admin" {
		who.Groups = []string{auth.Masters}
	}
	return request.WithInfo(auth.WithUser(ctx, who), info)
}

func clusterRolesInfo(name string) *request.Info {
	return &request.Info{
		IsResource: true, Verb: "update", Group: rbacv1.GroupName, Version: "v1", Resource: "clusterroles", Name: name,
	}
}

func TestEscalation(t *testing.T) {
	wants := func(what string, err error, want string) {
		t.Helper()
		if want == "" && err == nil {
			return
		}
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v\nwant %s", what, err, want)
		}
	}
	const held = ` (groups=["people"]) is attempting to grant RBAC permissions not currently held:` + "\n"
	more := clusterRole("mine", rule("get delete patch", "shop.example.com", "widgets widgets/scale"),
		rbacv1.PolicyRule{Verbs: []string{"get"}, NonResourceURLs: []string{"/x"}})
	missing := `{APIGroups:["shop.example.com"], Resources:["widgets"], Verbs:["delete" "patch"]}` + "\n" +
		`{APIGroups:["shop.example.com"], Resources:["widgets/scale"], Verbs:["get" "delete" "patch"]}` + "\n" +
		`{NonResourceURLs:["/x"], Verbs:["get"]}`
	less := clusterRole("mine", rule("list", "shop.example.com", "widgets", "a"))
	create := clusterRolesInfo("")
	wants("less than held", AuthorizeClusterRole(as(t, "ann", create), less, nil), "")
	wants("more than held", AuthorizeClusterRole(as(t, "ann", create), more, nil), `user "ann"`+held+missing)
	wants("a master", AuthorizeClusterRole(as(t, "admin", create), more, nil), "")
	wants("may escalate", AuthorizeClusterRole(as(t, "eva", clusterRolesInfo("mine")), more, less), "")
	wants("may escalate another", AuthorizeClusterRole(as(t, "eva", clusterRolesInfo("other")), less, nil),
		`user "eva"`+held+
			`{APIGroups:["shop.example.com"], Resources:["widgets"], ResourceNames:["a"], Verbs:["list"]}`)
	wants("no resolver", AuthorizeClusterRole(auth.WithUser(t.Context(), &auth.User{}), clusterRole("x"), nil), "")
	wants("nobody", AuthorizeClusterRole(t.Context(), clusterRole("x"), nil), "no user on context")

	marked := more.DeepCopy()
	marked.Finalizers, marked.Kind = []string{"example.com/x"}, "ClusterRole"
	wants("finalizers", AuthorizeClusterRole(as(t, "ann", clusterRolesInfo("mine")), marked, more), "")
	marked.Labels = map[string]string{"a": "b"}
	wants("labels", AuthorizeClusterRole(as(t, "ann", clusterRolesInfo("mine")), marked, more),
		`user "ann"`+held+missing)

	gathers := clusterRole("mine")
	gathers.AggregationRule = &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{{}}}
	needsAll := "must have cluster-admin privileges to use the aggregationRule"
	wants("aggregates", AuthorizeClusterRole(as(t, "ann", create), gathers, nil), needsAll)
	wants("aggregated", AuthorizeClusterRole(as(t, "ann", create), clusterRole("mine"), gathers), needsAll)
	wants("holds all", AuthorizeClusterRole(as(t, "root", create), gathers, nil), "")

	roleInfo := *create
	roleInfo.Resource, roleInfo.Namespace = "roles", "ns"
	wants("a role", AuthorizeRole(as(t, "ann", &roleInfo), roleIn("ns", "x", less.Rules...), nil), "")
	wants("a role with more", AuthorizeRole(as(t, "ann", &roleInfo), roleIn("ns", "x", more.Rules...), nil),
		`user "ann"`+held+missing)
}

func TestBinding(t *testing.T) {
	info := &request.Info{IsResource: true, Verb: "create", Group: rbacv1.GroupName, Resource: "clusterrolebindings"}
	to := func(role string) *rbacv1.ClusterRoleBinding { return clusterBinding("x", role, user("x")) }
	check := func(what string, err error, want string) {
		t.Helper()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", what, err, want)
		}
	}
	const more = `Resources:["gadgets"], Verbs:["*"]}`
	check("held", AuthorizeClusterRoleBinding(as(t, "ann", info), to("view"), nil), "")
	check("more", AuthorizeClusterRoleBinding(as(t, "ann", info), to("edit"), nil), more)
	check("may bind", AuthorizeClusterRoleBinding(as(t, "bob", info), to("edit"), nil), "")
	check("may bind another", AuthorizeClusterRoleBinding(as(t, "bob", info), to("view"), nil), "not currently held")
	check("a master", AuthorizeClusterRoleBinding(as(t, "admin", info), to("gone"), nil), "")
	err := AuthorizeClusterRoleBinding(as(t, "ann", info), to("gone"), nil)
	if !apierrors.IsNotFound(err) {
		t.Error(err)
	}
	check("missing", err, `clusterroles.rbac.authorization.k8s.io "gone" not found`)
	check("resolution errors", AuthorizeClusterRoleBinding(as(t, "stray", info), to("view"), nil),
		`; resolution errors: [clusterroles.rbac.authorization.k8s.io "gone" not found]`)
	in := func(kind, role string) *rbacv1.RoleBinding { return bindingIn("ns", "x", kind, role, user("x")) }
	check("a role", AuthorizeRoleBinding(as(t, "ann", info), in("Role", "one"), nil), "")
	check("a cluster role", AuthorizeRoleBinding(as(t, "ann", info), in("ClusterRole", "edit"), nil), more)
	edit := in("ClusterRole", "edit")
	check("the same", AuthorizeRoleBinding(as(t, "ann", info), edit, edit.DeepCopy()), "")
	check("a kind, which validation refuses",
		AuthorizeRoleBinding(as(t, "ann", info), in("Deployment", "edit"), nil), "")
	check("a missing role", AuthorizeRoleBinding(as(t, "ann", info), in("Role", "gone"), nil),
		`roles.rbac.authorization.k8s.io "gone" not found`)
}
