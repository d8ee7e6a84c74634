package v1

import (
	"context"

	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_IngressClass says that the parameters of a controller are an object of the cluster.
func SetDefaults_IngressClass(in *networkingv1.IngressClass) {
	if in.Spec.Parameters != nil {
		defaults.Pointer(&in.Spec.Parameters.Scope, networkingv1.IngressClassParametersReferenceScopeCluster)
	}
}

// longestController is how long the name of a controller may be.
const longestController = 250

// ValidateObject_IngressClass returns the errors of a class.
func ValidateObject_IngressClass(_ context.Context, in *networkingv1.IngressClass) field.ErrorList {
	path := field.NewPath("spec")
	controller := path.Child("controller")
	errs := append(rule.When(len(in.Spec.Controller) > longestController, field.TooLong(controller, "",
		longestController)), validation.IsDomainPrefixedPath(controller, in.Spec.Controller)...)
	ref, at := in.Spec.Parameters, path.Child("parameters")
	if ref == nil {
		return errs
	}
	if ref.APIGroup != nil {
		errs = append(errs, rule.Subdomain(at.Child("apiGroup"), *ref.APIGroup)...)
	}
	return rule.All(errs, segment(at.Child("kind"), ref.Kind), segment(at.Child("name"), ref.Name),
		validateScope(ref, at))
}

func validateScope(ref *networkingv1.IngressClassParametersReference, path *field.Path) rule.Errors {
	cluster := networkingv1.IngressClassParametersReferenceScopeCluster
	namespaced := networkingv1.IngressClassParametersReferenceScopeNamespace
	errs := rule.OneOf(path.Child("scope"), *ref.Scope, cluster, namespaced)
	at := path.Child("namespace")
	switch {
	case *ref.Scope == namespaced && ref.Namespace == nil:
		return append(errs, field.Required(at, "`parameters.scope` is set to 'Namespace'"))
	case *ref.Scope == namespaced:
		return append(errs, rule.Label(at, *ref.Namespace)...)
	case *ref.Scope == cluster && ref.Namespace != nil:
		return append(errs, field.Forbidden(at, "`parameters.scope` is set to 'Cluster'"))
	}
	return errs
}

// ValidateUpdate_IngressClass holds the controller.
func ValidateUpdate_IngressClass(_ context.Context, in, old *networkingv1.IngressClass) field.ErrorList {
	return rule.Immutable(field.NewPath("spec", "controller"), in.Spec.Controller, old.Spec.Controller)
}
