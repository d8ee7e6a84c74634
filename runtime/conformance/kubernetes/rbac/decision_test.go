package rbac

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-helpers/auth/rbac/validation"
	registryvalidation "k8s.io/kubernetes/pkg/registry/rbac/validation"
	kubernetes "k8s.io/kubernetes/plugin/pkg/auth/authorizer/rbac"
)

const (
	// sets is how many sets of roles and bindings are compared, perWorld how many of them follow from one another.
	sets     = 100_000
	perWorld = 50
	// questions are asked of each set.
	questions = 4
)

// TestDecisions: an index answers as Kubernetes' authorizer over the same roles and bindings, whatever changed before.
func TestDecisions(t *testing.T) {
	const parts = 2
	for part := range parts {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			d := dice{rand.New(rand.NewPCG(13, uint64(part)))}
			allowed := 0
			for range sets / parts / perWorld {
				c := &comparison{T: t, dice: d, index: &rbac.Index{}}
				for step := range perWorld {
					c.change(step == 0)
					for range questions {
						c.decide()
					}
					c.list()
					c.escalate()
				}
				allowed += c.allowed
				if t.Failed() {
					t.FailNow()
				}
			}
			t.Logf("%d of %d requests were allowed", allowed, sets/parts*questions)
		})
	}
}

// comparison is an index beside the world that it follows.
type comparison struct {
	*testing.T
	dice
	world   world
	index   *rbac.Index
	allowed int
}

// change changes the world, and has the index follow.
func (c *comparison) change(reset bool) {
	d, most := c.dice, 3
	if reset {
		most = 8
	}
	var clusterRoles reach.Changes[*rbacv1.ClusterRole]
	c.world.clusterRoles, clusterRoles.Put, clusterRoles.Deleted = change(d, c.world.clusterRoles, most,
		func() *rbacv1.ClusterRole {
			return &rbacv1.ClusterRole{ObjectMeta: d.meta(false), Rules: d.rules(3, true)}
		})
	var roles reach.Changes[*rbacv1.Role]
	c.world.roles, roles.Put, roles.Deleted = change(d, c.world.roles, most,
		func() *rbacv1.Role { return &rbacv1.Role{ObjectMeta: d.meta(true), Rules: d.rules(3, true)} })
	var clusterBindings reach.Changes[*rbacv1.ClusterRoleBinding]
	c.world.clusterBindings, clusterBindings.Put, clusterBindings.Deleted = change(d, c.world.clusterBindings, most,
		func() *rbacv1.ClusterRoleBinding {
			return &rbacv1.ClusterRoleBinding{ObjectMeta: d.meta(false), RoleRef: d.ref(), Subjects: d.subjects()}
		})
	var bindings reach.Changes[*rbacv1.RoleBinding]
	c.world.bindings, bindings.Put, bindings.Deleted = change(d, c.world.bindings, most,
		func() *rbacv1.RoleBinding {
			return &rbacv1.RoleBinding{ObjectMeta: d.meta(true), RoleRef: d.ref(), Subjects: d.subjects()}
		})
	if reset || d.IntN(20) == 0 { // all over again
		clusterRoles = reach.Changes[*rbacv1.ClusterRole]{Reset: true, Put: c.world.clusterRoles}
		roles = reach.Changes[*rbacv1.Role]{Reset: true, Put: c.world.roles}
		clusterBindings = reach.Changes[*rbacv1.ClusterRoleBinding]{Reset: true, Put: c.world.clusterBindings}
		bindings = reach.Changes[*rbacv1.RoleBinding]{Reset: true, Put: c.world.bindings}
	}
	c.index.ApplyClusterRoles(clusterRoles)
	c.index.ApplyRoles(roles)
	c.index.ApplyClusterRoleBindings(clusterBindings)
	c.index.ApplyRoleBindings(bindings)
}

func (c *comparison) user() *auth.User {
	return &auth.User{Name: c.one(users), Groups: c.some(groups, 3)}
}

func (c *comparison) decide() {
	who := c.user()
	info := &request.Info{Verb: c.one(verbs), Path: c.one(paths)}
	if c.IntN(5) > 0 {
		info.IsResource, info.Group, info.Version = true, c.one(apiGroups), "v1"
		info.Resource = c.one([]string{"x", "y", "z", ""})
		info.Subresource = c.one([]string{"", "", "status", "scale", "*", "atus"})
		info.Name, info.Namespace = c.one(objectNames), c.one([]string{"", "ns", "other", "third"})
	}
	theirs := kubernetes.New(&c.world, &c.world, &c.world, &c.world)
	wantDecision, wantReason, wantErr := theirs.Authorize(c.Context(), authorizer.AttributesRecord{
		User: &user.DefaultInfo{Name: who.Name, Groups: who.Groups}, Verb: info.Verb, Namespace: info.Namespace,
		APIGroup: info.Group, APIVersion: info.Version, Resource: info.Resource, Subresource: info.Subresource,
		Name: info.Name, ResourceRequest: info.IsResource, Path: info.Path,
	})
	decision, reason, err := c.index.Authorize(c.Context(), auth.Attributes{User: who, Info: info})
	if (decision == auth.Allow) != (wantDecision == authorizer.DecisionAllow) || reason != wantReason || err != nil ||
		wantErr != nil || decision == auth.Deny {
		c.Errorf("%+v %+v: %v, %q, %v; Kubernetes says %v, %q, %v", who, info, decision, reason, err, wantDecision,
			wantReason, wantErr)
	}
	if decision == auth.Allow {
		c.allowed++
	}
}

func (c *comparison) list() {
	who, namespace := c.user(), c.one([]string{"", "ns", "other", "third"})
	theirs := kubernetes.New(&c.world, &c.world, &c.world, &c.world)
	resourceRules, nonResourceRules, incomplete, wantErr := theirs.RulesFor(c.Context(),
		&user.DefaultInfo{Name: who.Name, Groups: who.Groups}, namespace)
	var want auth.Rules
	for _, r := range resourceRules {
		want.Resources = append(want.Resources, auth.ResourceRule{
			Verbs: r.GetVerbs(), Groups: r.GetAPIGroups(), Resources: r.GetResources(), Names: r.GetResourceNames(),
		})
	}
	for _, r := range nonResourceRules {
		want.NonResources = append(want.NonResources, auth.NonResourceRule{
			Verbs: r.GetVerbs(), Paths: r.GetNonResourceURLs(),
		})
	}
	got, complete, err := c.index.RulesFor(c.Context(), who, namespace)
	if !equality.Semantic.DeepEqual(got, want) || complete == incomplete || fmt.Sprint(err) != fmt.Sprint(wantErr) {
		c.Errorf("%+v in %q: %+v, %v, %v\nKubernetes lists %+v, %v, %v", who, namespace, got, complete, err, want,
			incomplete, wantErr)
	}
}

// escalate compares which rules cover which, and the words in which a grant is refused.
func (c *comparison) escalate() {
	owner, rules := c.rules(4, false), c.rules(3, false)
	wantCovered, wantMissing := validation.Covers(owner, rules)
	covered, missing := rbac.Covers(owner, rules)
	if covered != wantCovered || len(missing) != len(wantMissing) ||
		len(missing) > 0 && !equality.Semantic.DeepEqual(missing, wantMissing) {
		c.Errorf("%+v covers %+v: %v, %+v\nKubernetes says %v, %+v", owner, rules, covered, missing, wantCovered,
			wantMissing)
	}
	who, namespace := c.user(), c.one([]string{"ns", "other"})
	theirs := c.world
	theirs.stored = true
	ctx := genericapirequest.WithNamespace(genericapirequest.WithUser(c.Context(),
		&user.DefaultInfo{Name: who.Name, Groups: who.Groups}), namespace)
	resolver := registryvalidation.NewDefaultRuleResolver(&theirs, &theirs, &theirs, &theirs)
	want := registryvalidation.ConfirmNoEscalation(ctx, resolver, rules)
	ctx = auth.WithAccess(auth.WithUser(c.Context(), who), &auth.Access{Authorizer: auth.Union{auth.Union{c.index}}})
	role := &rbacv1.Role{Rules: rules}
	role.Namespace = namespace
	if err := rbac.AuthorizeRole(ctx, role, nil); fmt.Sprint(err) != fmt.Sprint(want) {
		c.Errorf("%+v grants %+v: %v\nKubernetes says %v", who, rules, err, want)
	}
}
