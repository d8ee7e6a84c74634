package v1

import (
	"context"
	"slices"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	validationActions = []registrationv1.ValidationAction{
		registrationv1.Audit, registrationv1.Deny, registrationv1.Warn,
	}
	notFoundActions = []registrationv1.ParameterNotFoundActionType{
		registrationv1.DenyAction, registrationv1.AllowAction,
	}
)

// ValidateObject_ValidatingAdmissionPolicyBinding returns kube-apiserver's errors for a new binding.
func ValidateObject_ValidatingAdmissionPolicyBinding(
	ctx context.Context, binding *registrationv1.ValidatingAdmissionPolicyBinding,
) field.ErrorList {
	if !isNew(binding) {
		return nil
	}
	errs := validateValidatingBinding(&binding.Spec)
	if len(errs) == 0 {
		errs = authorizeReference(ctx, validatingReference(binding), nil)
	}
	return errs
}

// ValidateUpdate_ValidatingAdmissionPolicyBinding returns kube-apiserver's errors for a changed binding.
func ValidateUpdate_ValidatingAdmissionPolicyBinding(
	ctx context.Context, binding, old *registrationv1.ValidatingAdmissionPolicyBinding,
) field.ErrorList {
	errs := validateValidatingBinding(&binding.Spec)
	if len(errs) == 0 {
		errs = authorizeReference(ctx, validatingReference(binding), validatingReference(old))
	}
	return errs
}

func validateValidatingBinding(spec *registrationv1.ValidatingAdmissionPolicyBindingSpec) field.ErrorList {
	errs := validateReference(spec.PolicyName, spec.ParamRef, spec.MatchResources)
	return append(errs, validateActions(spec.ValidationActions, specPath.Child("validationActions"))...)
}

// validateActions leaves a missing list to the marker of the field.
func validateActions(actions []registrationv1.ValidationAction, path *field.Path) (errs field.ErrorList) {
	for i, action := range actions {
		errs = append(errs, oneOf(path.Index(i), action, validationActions)...)
		if slices.Contains(actions[:i], action) {
			errs = append(errs, field.Duplicate(path.Index(i), action))
		}
	}
	if slices.Contains(actions, registrationv1.Deny) && slices.Contains(actions, registrationv1.Warn) {
		errs = append(errs, field.Invalid(path, actions, "must not contain both Deny and Warn (repeating the same "+
			"validation failure information in the API response and headers serves no purpose)"))
	}
	return errs
}

// ValidateObject_MutatingAdmissionPolicyBinding returns kube-apiserver's errors for a new binding.
func ValidateObject_MutatingAdmissionPolicyBinding(
	ctx context.Context, binding *registrationv1.MutatingAdmissionPolicyBinding,
) field.ErrorList {
	if !isNew(binding) {
		return nil
	}
	errs := validateMutatingBinding(&binding.Spec)
	if len(errs) == 0 {
		errs = authorizeReference(ctx, mutatingReference(binding), nil)
	}
	return errs
}

// ValidateUpdate_MutatingAdmissionPolicyBinding returns kube-apiserver's errors for a changed binding.
func ValidateUpdate_MutatingAdmissionPolicyBinding(
	ctx context.Context, binding, old *registrationv1.MutatingAdmissionPolicyBinding,
) field.ErrorList {
	errs := validateMutatingBinding(&binding.Spec)
	if len(errs) == 0 {
		errs = authorizeReference(ctx, mutatingReference(binding), mutatingReference(old))
	}
	return errs
}

func validateMutatingBinding(spec *registrationv1.MutatingAdmissionPolicyBindingSpec) (errs field.ErrorList) {
	if spec.PolicyName == "" {
		errs = append(errs, field.Required(specPath.Child("policyName"), ""))
	}
	errs = append(errs, validateReference(spec.PolicyName, spec.ParamRef, spec.MatchResources)...)
	if spec.MatchResources != nil {
		errs = append(errs, validateMutatingOperations(spec.MatchResources, specPath.Child("matchResources"))...)
	}
	return errs
}

// validateReference validates what both kinds of bindings have.
func validateReference(
	policy string, params *registrationv1.ParamRef, match *registrationv1.MatchResources,
) (errs field.ErrorList) {
	if policy != "" {
		for _, message := range validation.NameIsDNSSubdomain(policy, false) {
			errs = append(errs, field.Invalid(specPath.Child("policyName"), policy, message))
		}
	}
	if params != nil {
		errs = append(errs, validateParamRef(params, specPath.Child("paramRef"))...)
	}
	return append(errs, validateMatch(match, specPath.Child("matchResources"))...)
}

func validateParamRef(ref *registrationv1.ParamRef, path *field.Path) (errs field.ErrorList) {
	const exclusive = "name and selector are mutually exclusive"
	if ref.Name != "" {
		for _, message := range content.IsPathSegmentName(ref.Name) {
			errs = append(errs, field.Invalid(path.Child("name"), ref.Name, message))
		}
		if ref.Selector != nil {
			errs = append(errs, field.Forbidden(path.Child("name"), exclusive))
		}
	}
	if ref.Selector != nil {
		errs = append(errs, metav1validation.ValidateLabelSelector(ref.Selector,
			metav1validation.LabelSelectorValidationOptions{}, path.Child("selector"))...)
		if ref.Name != "" {
			errs = append(errs, field.Forbidden(path.Child("selector"), exclusive))
		}
	}
	if ref.Name == "" && ref.Selector == nil {
		errs = append(errs, field.Required(path, "one of name or selector must be specified"))
	}
	if action := ref.ParameterNotFoundAction; action == nil || *action == "" {
		return append(errs, field.Required(path.Child("parameterNotFoundAction"), ""))
	}
	return append(errs, oneOf(path.Child("parameterNotFoundAction"), *ref.ParameterNotFoundAction, notFoundActions)...)
}
