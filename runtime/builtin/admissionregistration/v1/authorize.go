package v1

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/reach"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// authorizeKind rejects a kind of parameters that the author of the policy may not read: an expression could tell the
// author what is in them. old is what the policy had before.
func authorizeKind(ctx context.Context, kind, old *registrationv1.ParamKind) field.ErrorList {
	authorizer := auth.AccessFrom(ctx).Authorizer
	if kind == nil || old != nil && *old == *kind || authorizer == nil || isMaster(ctx) {
		return nil
	}
	target := targetOf(ctx, kind)
	allowed, err := may(ctx, authorizer, &request.Info{
		IsResource: true, Verb: "get", Group: target.group, Version: target.version, Resource: target.resource,
		Name: everything, Namespace: everything,
	})
	if err == nil && !allowed {
		err = fmt.Errorf(`user %v must have "get" permission on all objects of the referenced paramKind `+
			`(kind=%s, apiVersion=%s)`, shownUser(ctx), kind.Kind, kind.APIVersion)
	}
	return forbidden("paramKind", err)
}

// reference is what a binding says about parameters.
type reference struct {
	policy string
	params *registrationv1.ParamRef
	// kind returns the kind of the policy's parameters, which may be nil.
	kind func(ctx context.Context) (*registrationv1.ParamKind, error)
}

func validatingReference(binding *registrationv1.ValidatingAdmissionPolicyBinding) *reference {
	name := binding.Spec.PolicyName
	return &reference{name, binding.Spec.ParamRef, func(ctx context.Context) (*registrationv1.ParamKind, error) {
		policy, err := get[*registrationv1.ValidatingAdmissionPolicy](ctx, name)
		if err != nil {
			return nil, err
		}
		return policy.Spec.ParamKind, nil
	}}
}

func mutatingReference(binding *registrationv1.MutatingAdmissionPolicyBinding) *reference {
	name := binding.Spec.PolicyName
	return &reference{name, binding.Spec.ParamRef, func(ctx context.Context) (*registrationv1.ParamKind, error) {
		policy, err := get[*registrationv1.MutatingAdmissionPolicy](ctx, name)
		if err != nil {
			return nil, err
		}
		return policy.Spec.ParamKind, nil
	}}
}

func get[T any](ctx context.Context, name string) (none T, err error) {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return none, err
	}
	return objects.Get(ctx, "", name)
}

// authorizeReference rejects parameters that the author of the binding may not read. old is the binding before.
func authorizeReference(ctx context.Context, now, old *reference) field.ErrorList {
	authorizer := auth.AccessFrom(ctx).Authorizer
	if now.params == nil || authorizer == nil || isMaster(ctx) {
		return nil
	}
	if old != nil && old.policy == now.policy && equality.Semantic.DeepEqual(old.params, now.params) {
		return nil
	}
	verb, target := "get", target{everything, everything, everything, nil}
	if now.params.Name == "" {
		verb = "list"
	}
	kind, err := now.kind(ctx)
	switch {
	case err != nil:
		target.fault = fmt.Errorf("unable to get policy %s", now.policy)
	case kind != nil:
		target = targetOf(ctx, kind)
	}
	allowed, err := may(ctx, authorizer, &request.Info{
		IsResource: true, Verb: verb, Group: target.group, Version: target.version, Resource: target.resource,
		Name: now.params.Name, Namespace: now.params.Namespace,
	})
	switch {
	case err != nil:
		err = fmt.Errorf("failed to authorize request: %w", err)
	case allowed:
	case target.fault != nil:
		err = fmt.Errorf(`%w to determine minimum required permissions and user %v does not have "%v" permission `+
			`for all groups, versions and resources`, target.fault, shownUser(ctx), verb)
	default:
		err = fmt.Errorf(`user %v does not have "%v" permission on the object referenced by paramRef`,
			shownUser(ctx), verb)
	}
	return forbidden("paramRef", err)
}

// target is what a user must be allowed to read: everything, where the kind of the parameters isn't known.
type target struct {
	group, version, resource string
	fault                    error
}

func targetOf(ctx context.Context, kind *registrationv1.ParamKind) target {
	gv, err := schema.ParseGroupVersion(kind.APIVersion)
	if err != nil {
		return target{everything, everything, everything, fmt.Errorf("unable to parse paramKind %v", kind)}
	}
	catalog, err := reach.CatalogFrom(ctx)
	if err == nil {
		if resource, served := reach.FindKind(catalog, gv.WithKind(kind.Kind)); served {
			return target{gv.Group, gv.Version, resource.Resource, nil}
		}
	}
	return target{gv.Group, gv.Version, everything, fmt.Errorf("unable to resolve paramKind %v", kind)}
}

func may(ctx context.Context, authorizer auth.Authorizer, info *request.Info) (bool, error) {
	user := auth.UserFrom(ctx)
	if user == nil {
		return false, errors.New("cannot identify user to authorize read access to parameters")
	}
	decision, _, err := authorizer.Authorize(ctx, auth.Attributes{User: user, Info: info})
	return decision == auth.Allow, err
}

func isMaster(ctx context.Context) bool {
	user := auth.UserFrom(ctx)
	return user != nil && slices.Contains(user.Groups, auth.Masters)
}

// shownUser prints the user as kube-apiserver does.
func shownUser(ctx context.Context) string {
	user := auth.UserFrom(ctx)
	return fmt.Sprintf("&{%s %s %v %v}", user.Name, user.UID, user.Groups, user.Extra)
}

func forbidden(name string, err error) field.ErrorList {
	if err == nil {
		return nil
	}
	return field.ErrorList{field.Forbidden(specPath.Child(name), err.Error())}
}
