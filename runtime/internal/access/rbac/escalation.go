package rbac

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
)

// The verbs that allow a user to grant more than the user may do.
const (
	verbEscalate = "escalate"
	verbBind     = "bind"
)

// AuthorizeClusterRole refuses a ClusterRole that grants more than its author may do, unless the author may escalate
// it. Only who may do everything sets an aggregationRule. old is nil for a new one. The errors have kube-apiserver's
// words; the server answers 403 with them.
func AuthorizeClusterRole(ctx context.Context, now, old *rbacv1.ClusterRole) error {
	if mayEscalate(ctx) || old != nil && changesOwnershipOnly(now, old) {
		return nil
	}
	if err := confirm(ctx, "", now.Rules); err != nil {
		return err
	}
	if !aggregates(now) && !aggregates(old) || confirm(ctx, "", allRules) == nil {
		return nil
	}
	return errors.New("must have cluster-admin privileges to use the aggregationRule")
}

// allRules allow everything.
var allRules = []rbacv1.PolicyRule{
	{Verbs: []string{everything}, APIGroups: []string{everything}, Resources: []string{everything}},
	{Verbs: []string{everything}, NonResourceURLs: []string{everything}},
}

func aggregates(r *rbacv1.ClusterRole) bool {
	return r != nil && r.AggregationRule != nil && len(r.AggregationRule.ClusterRoleSelectors) > 0
}

// AuthorizeRole is AuthorizeClusterRole for a Role.
func AuthorizeRole(ctx context.Context, now, old *rbacv1.Role) error {
	if mayEscalate(ctx) || old != nil && changesOwnershipOnly(now, old) {
		return nil
	}
	return confirm(ctx, now.Namespace, now.Rules)
}

// AuthorizeClusterRoleBinding refuses a binding of a role that grants more than the binding's author may do, unless the
// author may bind the role. old is nil for a new one.
func AuthorizeClusterRoleBinding(ctx context.Context, now, old *rbacv1.ClusterRoleBinding) error {
	if isMaster(ctx) || old != nil && changesOwnershipOnly(now, old) {
		return nil
	}
	return authorizeReference(ctx, "", now.RoleRef)
}

// AuthorizeRoleBinding is AuthorizeClusterRoleBinding for a RoleBinding.
func AuthorizeRoleBinding(ctx context.Context, now, old *rbacv1.RoleBinding) error {
	if isMaster(ctx) || old != nil && changesOwnershipOnly(now, old) {
		return nil
	}
	return authorizeReference(ctx, now.Namespace, now.RoleRef)
}

func authorizeReference(ctx context.Context, namespace string, ref rbacv1.RoleRef) error {
	if ref.Kind != clusterRoleKind && ref.Kind != roleKind {
		return nil // validation, which follows, refuses every other kind
	}
	if mayBind(ctx, namespace, ref) {
		return nil
	}
	rules, err := rulesOf(ctx, namespace, ref)
	if err != nil {
		return err
	}
	return confirm(ctx, namespace, rules)
}

// isMaster reports whether the user is in system:masters, whom the server allows everything.
func isMaster(ctx context.Context) bool {
	user := auth.UserFrom(ctx)
	return user != nil && slices.Contains(user.Groups, auth.Masters)
}

// mayEscalate reports whether the user may write any rules into the role of the present request.
func mayEscalate(ctx context.Context) bool {
	info := request.InfoFrom(ctx)
	if isMaster(ctx) {
		return true
	}
	if info == nil || !info.IsResource || info.Group != rbacv1.GroupName ||
		info.Resource != resources[clusterRoles] && info.Resource != resources[roles] {
		return false
	}
	return may(ctx, &request.Info{
		IsResource: true, Verb: verbEscalate, Group: info.Group, Version: everything, Resource: info.Resource,
		Name: info.Name, Namespace: info.Namespace,
	})
}

// mayBind reports whether the user may bind a role to anybody in a namespace.
func mayBind(ctx context.Context, namespace string, ref rbacv1.RoleRef) bool {
	info := &request.Info{
		IsResource: true, Verb: verbBind, Group: ref.APIGroup, Version: everything, Name: ref.Name,
		Namespace: namespace,
	}
	switch ref.Kind {
	case clusterRoleKind:
		info.Resource = resources[clusterRoles]
	case roleKind:
		info.Resource = resources[roles]
	default:
		return false
	}
	return may(ctx, info)
}

// may asks the server's authorizer about the user. An error denies.
func may(ctx context.Context, info *request.Info) bool {
	user, authorizer := auth.UserFrom(ctx), auth.AccessFrom(ctx).Authorizer
	if user == nil || authorizer == nil {
		return false
	}
	decision, _, _ := authorizer.Authorize(ctx, auth.Attributes{User: user, Info: info})
	return decision == auth.Allow
}

// rulesOf reads the rules of the role that a binding refers to.
func rulesOf(ctx context.Context, namespace string, ref rbacv1.RoleRef) ([]rbacv1.PolicyRule, error) {
	switch ref.Kind {
	case clusterRoleKind:
		r, err := read[*rbacv1.ClusterRole](ctx, "", ref.Name)
		if err != nil {
			return nil, err
		}
		return r.Rules, nil
	case roleKind:
		r, err := read[*rbacv1.Role](ctx, namespace, ref.Name)
		if err != nil {
			return nil, err
		}
		return r.Rules, nil
	}
	return nil, apierrors.NewInternalError(fmt.Errorf("unsupported role reference kind: %q", ref.Kind))
}

func read[T any](ctx context.Context, namespace, name string) (none T, err error) {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return none, apierrors.NewInternalError(err)
	}
	return objects.Get(ctx, namespace, name)
}

// confirm refuses rules that the user doesn't hold in a namespace.
func confirm(ctx context.Context, namespace string, rules []rbacv1.PolicyRule) error {
	user := auth.UserFrom(ctx)
	if user == nil {
		return errors.New("no user on context")
	}
	held, failure := heldBy(ctx, user, namespace)
	covered, missing := Covers(held, rules)
	if covered {
		return nil
	}
	message := fmt.Sprintf("user %q (groups=%q) is attempting to grant RBAC permissions not currently held:\n%s",
		user.Name, user.Groups, describeMissing(missing))
	if failure != nil {
		message += fmt.Sprintf("; resolution errors: %v", []error{failure})
	}
	return errors.New(message)
}

// heldBy returns the rules that the server's authorizer lists for a user. Its error says which rules may be missing.
func heldBy(ctx context.Context, user *auth.User, namespace string) (rules []rbacv1.PolicyRule, failure error) {
	resolver, ok := auth.AccessFrom(ctx).Authorizer.(auth.RuleResolver)
	if !ok {
		return nil, nil
	}
	listed, _, err := resolver.RulesFor(ctx, user, namespace)
	for _, r := range listed.Resources {
		rules = append(rules, rbacv1.PolicyRule{
			Verbs: r.Verbs, APIGroups: r.Groups, Resources: r.Resources, ResourceNames: r.Names,
		})
	}
	for _, r := range listed.NonResources {
		rules = append(rules, rbacv1.PolicyRule{Verbs: r.Verbs, NonResourceURLs: r.Paths})
	}
	var errs []error
	for _, err := range leaves(err) {
		errs = append(errs, inPlural(err))
	}
	if all := utilerrors.NewAggregate(errs); all != nil {
		return rules, all
	}
	return rules, nil
}

// leaves returns the errors that an error joins.
func leaves(err error) (all []error) {
	var joined []error
	switch e := err.(type) { //nolint:errorlint // it takes the outermost apart
	case nil:
		return nil
	case utilerrors.Aggregate:
		joined = e.Errors()
	case interface{ Unwrap() []error }:
		joined = e.Unwrap()
	default:
		return []error{err}
	}
	for _, one := range joined {
		all = append(all, leaves(one)...)
	}
	return all
}

// inPlural names a role that doesn't exist by its resource, as kube-apiserver does here, and by its kind elsewhere.
func inPlural(err error) error {
	var status *apierrors.StatusError
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) || status.ErrStatus.Details == nil {
		return err
	}
	details := status.ErrStatus.Details
	return apierrors.NewNotFound(schema.GroupResource{Group: details.Group, Resource: details.Kind + "s"}, details.Name)
}

// changesOwnershipOnly reports whether an update changes only what the garbage collector changes: then it grants
// nothing.
func changesOwnershipOnly(now, old runtime.Object) bool {
	changed := now.DeepCopyObject()
	after, err := meta.Accessor(changed)
	if err != nil {
		return false
	}
	before, err := meta.Accessor(old)
	if err != nil {
		return false
	}
	after.SetOwnerReferences(before.GetOwnerReferences())
	after.SetFinalizers(before.GetFinalizers())
	after.SetSelfLink(before.GetSelfLink())
	after.SetManagedFields(before.GetManagedFields())
	changed.GetObjectKind().SetGroupVersionKind(old.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(changed, old)
}
