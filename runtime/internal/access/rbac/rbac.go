// Package rbac decides what users may do by the roles and bindings of rbac.authorization.k8s.io/v1, as kube-apiserver
// does: with the same decisions, reasons and errors. An Index holds roles and bindings in a form in which a decision
// costs a few look-ups; it follows the objects of the server itself.
//
// The package may know packages auth, reach, request and verb, and the types of k8s.io/api.
package rbac

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// Index has all roles and bindings of a server. It is an auth.Authorizer and an auth.RuleResolver. Readers take no
// lock: they read one state, which a change replaces by another one that shares all that stayed. The zero value is
// empty, and allows nothing.
type Index struct {
	current atomic.Pointer[state]
	mu      sync.Mutex // guards what follows; held by the methods that change the index
	// clusterBindings and bindings are those in the current state.
	clusterBindings, bindings map[objectName]applied
	reached                   [kinds]progress
}

var (
	_ auth.Authorizer   = (*Index)(nil)
	_ auth.RuleResolver = (*Index)(nil)
)

// empty is the state of an Index before its first change.
var empty state

func (x *Index) state() *state {
	if s := x.current.Load(); s != nil {
		return s
	}
	return &empty
}

// Authorize implements auth.Authorizer. It allows what a rule of a role allows that a binding gives to the user or to
// one of the user's groups, and has no opinion on anything else. The reason names the first such binding. A denial
// names the roles that bindings of the user refer to and that don't exist. It allocates nothing, unless there are such
// roles.
func (x *Index) Authorize(_ context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if a.User == nil {
		return auth.NoOpinion, "", nil
	}
	s := x.state()
	best, missing := s.first(&s.cluster, &a)
	if best == nil && a.Namespace != "" {
		if within := s.namespaces.get(hashOf(a.Namespace), a.Namespace); within != nil {
			var alsoMissing bool
			best, alsoMissing = s.first(within, &a)
			missing = missing || alsoMissing
		}
	}
	switch {
	case best != nil:
		return auth.Allow, best.reason, nil
	case missing:
		_, errs := s.rules(a.User, a.Namespace)
		return auth.NoOpinion, fmt.Sprintf("RBAC: %v", utilerrors.NewAggregate(errs)), nil
	}
	return auth.NoOpinion, "", nil
}

// first returns the first grant of a user's that allows a request, and whether it saw a grant of a role that doesn't
// exist.
func (s *state) first(within *subjects, a *auth.Attributes) (best *grant, missing bool) {
	best, missing = s.firstOf(within.users.get(hashOf(a.User.Name), a.User.Name), a, nil)
	if within.groups.root == nil {
		return best, missing
	}
	for _, group := range a.User.Groups {
		var alsoMissing bool
		best, alsoMissing = s.firstOf(within.groups.get(hashOf(group), group), a, best)
		missing = missing || alsoMissing
	}
	return best, missing
}

// firstOf returns the first of some grants that allows a request, or best where that comes before.
func (s *state) firstOf(some *grants, a *auth.Attributes, best *grant) (_ *grant, missing bool) {
	if some == nil {
		return best, false
	}
	for _, g := range some.distinct {
		if best != nil && !g.before(best) {
			break
		}
		r := s.roleOf(g)
		if r == nil {
			missing = true
			continue
		}
		if r.allows(a.Info) {
			return g, missing
		}
	}
	return best, missing
}

// grants returns the grants of a user in a namespace, or those for the whole cluster if it is "": one of each
// binding, in the order of the bindings' names.
func (s *state) grants(within *subjects, user *auth.User) (all []*grant) {
	add := func(some *grants) {
		if some != nil {
			all = append(all, some.all...)
		}
	}
	add(within.users.get(hashOf(user.Name), user.Name))
	for _, group := range user.Groups {
		add(within.groups.get(hashOf(group), group))
	}
	slices.SortFunc(all, (*grant).compare)
	return slices.CompactFunc(all, func(a, b *grant) bool { return a.binding == b.binding })
}

// rules returns the rules that hold for a user in a namespace, those of the whole cluster first, and the errors for
// roles that don't exist.
func (s *state) rules(user *auth.User, namespace string) (rules []rbacv1.PolicyRule, errs []error) {
	all := s.grants(&s.cluster, user)
	if namespace != "" {
		if within := s.namespaces.get(hashOf(namespace), namespace); within != nil {
			all = append(all, s.grants(within, user)...)
		}
	}
	for _, g := range all {
		if r := s.roleOf(g); r != nil {
			rules = append(rules, r.rules...)
		} else {
			errs = append(errs, g.missing())
		}
	}
	return rules, errs
}

// missing returns the error for the role of a grant, which doesn't exist.
func (g *grant) missing() error {
	if g.kind != clusterRoleKind && g.kind != roleKind {
		return fmt.Errorf("unsupported role reference kind: %q", g.kind)
	}
	return apierrors.NewNotFound(schema.GroupResource{
		Group: rbacv1.GroupName, Resource: strings.ToLower(g.kind),
	}, g.name)
}

// RulesFor implements auth.RuleResolver. The list is complete.
func (x *Index) RulesFor(_ context.Context, user *auth.User, namespace string) (auth.Rules, bool, error) {
	rules, errs := x.state().rules(user, namespace)
	var listed auth.Rules
	for _, r := range rules {
		if len(r.Resources) > 0 {
			listed.Resources = append(listed.Resources, auth.ResourceRule{
				Verbs: r.Verbs, Groups: r.APIGroups, Resources: r.Resources, Names: r.ResourceNames,
			})
		}
		if len(r.NonResourceURLs) > 0 {
			listed.NonResources = append(listed.NonResources, auth.NonResourceRule{
				Verbs: r.Verbs, Paths: r.NonResourceURLs,
			})
		}
	}
	if err := utilerrors.NewAggregate(errs); err != nil {
		return listed, true, err
	}
	return listed, true, nil
}

// ApplyClusterRoles brings the index up to date with changes of ClusterRoles. The index keeps the rules of the objects.
func (x *Index) ApplyClusterRoles(changes reach.Changes[*rbacv1.ClusterRole]) {
	x.change(clusterRoles, changes.Revision, func(s *state) {
		s.clusterRoles = applyRoles(s.clusterRoles, changes, func(r *rbacv1.ClusterRole) []rbacv1.PolicyRule {
			return r.Rules
		})
	})
}

// ApplyRoles brings the index up to date with changes of Roles. The index keeps the rules of the objects.
func (x *Index) ApplyRoles(changes reach.Changes[*rbacv1.Role]) {
	x.change(roles, changes.Revision, func(s *state) {
		s.roles = applyRoles(s.roles, changes, func(r *rbacv1.Role) []rbacv1.PolicyRule { return r.Rules })
	})
}

func applyRoles[T metav1.Object](
	t table[*role], changes reach.Changes[T], rules func(T) []rbacv1.PolicyRule,
) table[*role] {
	if changes.Reset {
		t = table[*role]{}
	}
	for _, r := range changes.Deleted {
		t = t.remove(keyOf(r.GetNamespace(), r.GetName()))
	}
	for _, r := range changes.Put {
		t = t.put(keyOf(r.GetNamespace(), r.GetName()), newRole(rules(r)))
	}
	return t
}

// ApplyClusterRoleBindings brings the index up to date with changes of ClusterRoleBindings.
func (x *Index) ApplyClusterRoleBindings(changes reach.Changes[*rbacv1.ClusterRoleBinding]) {
	x.change(clusterRoleBindings, changes.Revision, func(s *state) {
		if changes.Reset || x.clusterBindings == nil {
			s.cluster, x.clusterBindings = subjects{}, map[objectName]applied{}
		}
		s.apply(applyBindings(x.clusterBindings, changes, func(b *rbacv1.ClusterRoleBinding) *binding {
			return &binding{name: b.Name, ref: b.RoleRef, subjects: b.Subjects}
		}))
	})
}

// ApplyRoleBindings brings the index up to date with changes of RoleBindings.
func (x *Index) ApplyRoleBindings(changes reach.Changes[*rbacv1.RoleBinding]) {
	x.change(roleBindings, changes.Revision, func(s *state) {
		if changes.Reset || x.bindings == nil {
			s.namespaces, x.bindings = table[*subjects]{}, map[objectName]applied{}
		}
		s.apply(applyBindings(x.bindings, changes, func(b *rbacv1.RoleBinding) *binding {
			return &binding{shared(b.Namespace), b.Name, b.RoleRef, b.Subjects}
		}))
	})
}

// applyBindings brings known up to date, and returns what that means for the grants.
func applyBindings[T metav1.Object](
	known map[objectName]applied, changes reach.Changes[T], bindingOf func(T) *binding,
) edits {
	all := edits{}
	for _, b := range changes.Deleted {
		key := objectName{b.GetNamespace(), b.GetName()}
		all.drop(known[key])
		delete(known, key)
	}
	for _, b := range changes.Put {
		now := bindingOf(b)
		key := objectName{now.namespace, now.name}
		all.drop(known[key])
		known[key] = all.add(now)
	}
	return all
}

// change replaces the current state by one that modify has changed, and records the revision of a kind.
func (x *Index) change(of kind, revision int64, modify func(*state)) {
	x.mu.Lock()
	defer x.mu.Unlock()
	next := *x.state()
	modify(&next)
	x.current.Store(&next)
	x.reached[of].advance(revision)
}
