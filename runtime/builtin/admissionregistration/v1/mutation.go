package v1

import (
	"context"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var (
	patchTypes = []registrationv1.PatchType{
		registrationv1.PatchTypeApplyConfiguration, registrationv1.PatchTypeJSONPatch,
	}
	reinvocationPolicies = []registrationv1.ReinvocationPolicyType{
		registrationv1.IfNeededReinvocationPolicy, registrationv1.NeverReinvocationPolicy,
	}
)

// ValidateObject_MutatingAdmissionPolicy returns kube-apiserver's errors for a new policy.
func ValidateObject_MutatingAdmissionPolicy(
	ctx context.Context, policy *registrationv1.MutatingAdmissionPolicy,
) field.ErrorList {
	if !isNew(policy) {
		return nil
	}
	errs := validateMutating(policy, false)
	if len(errs) == 0 {
		errs = authorizeKind(ctx, policy.Spec.ParamKind, nil)
	}
	return errs
}

// ValidateUpdate_MutatingAdmissionPolicy returns kube-apiserver's errors for a changed policy.
func ValidateUpdate_MutatingAdmissionPolicy(
	ctx context.Context, policy, old *registrationv1.MutatingAdmissionPolicy,
) field.ErrorList {
	same := equality.Semantic.DeepEqual(policy.Spec.ParamKind, old.Spec.ParamKind) &&
		equality.Semantic.DeepEqual(policy.Spec.MatchConditions, old.Spec.MatchConditions)
	errs := validateMutating(policy, same)
	if len(errs) == 0 {
		errs = authorizeKind(ctx, policy.Spec.ParamKind, old.Spec.ParamKind)
	}
	return errs
}

// validateMutating doesn't look at match conditions that are the same as before.
func validateMutating(policy *registrationv1.MutatingAdmissionPolicy, sameConditions bool) field.ErrorList {
	spec := &policy.Spec
	errs := validateConstraints(spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints)
	if spec.MatchConstraints != nil {
		errs = append(errs, validateMutatingOperations(spec.MatchConstraints, specPath.Child("matchConstraints"))...)
	}
	params := spec.ParamKind != nil
	if !sameConditions {
		errs = append(errs, validateConditions(spec.MatchConditions, params, specPath.Child("matchConditions"))...)
	}
	compiler := newMutations(params, spec.Variables)
	errs = append(errs, compiler.validateVariables(spec.Variables, specPath.Child("variables"))...)
	if len(spec.Mutations) == 0 {
		errs = append(errs, field.Required(specPath.Child("mutations"), "mutations must contain at least one item"))
	}
	for i := range spec.Mutations {
		errs = append(errs, compiler.validateMutation(&spec.Mutations[i], specPath.Child("mutations").Index(i))...)
	}
	path := specPath.Child("reinvocationPolicy")
	if spec.ReinvocationPolicy == "" {
		return append(errs, field.Required(path, ""))
	}
	return append(errs, oneOf(path, spec.ReinvocationPolicy, reinvocationPolicies)...)
}

func (e *expressions) validateMutation(m *registrationv1.Mutation, path *field.Path) (errs field.ErrorList) {
	switch m.PatchType {
	case "":
		return field.ErrorList{field.Required(path.Child("patchType"), "")}
	case registrationv1.PatchTypeJSONPatch:
		if m.JSONPatch == nil {
			const detail = "must be specified when patchType is JSONPatch"
			errs = append(errs, field.Required(path.Child("jsonPatch"), detail))
		} else {
			errs = append(errs, e.validatePatch(jsonPatch, m.JSONPatch.Expression, path.Child("jsonPatch"))...)
		}
		if m.ApplyConfiguration != nil {
			errs = append(errs, field.Invalid(path.Child("applyConfiguration"), "{applyConfiguration}",
				"must not be specified when patchType is JSONPatch"))
		}
	case registrationv1.PatchTypeApplyConfiguration:
		at := path.Child("applyConfiguration")
		if m.ApplyConfiguration == nil {
			errs = append(errs, field.Required(at, "must be specified when patchType is ApplyConfiguration"))
		} else {
			errs = append(errs, e.validatePatch(applyConfiguration, m.ApplyConfiguration.Expression, at)...)
		}
		if m.JSONPatch != nil {
			errs = append(errs, field.Invalid(path.Child("jsonPatch"), "{jsonPatch}",
				"must not be specified when patchType is ApplyConfiguration"))
		}
	default:
		return oneOf(path.Child("patchType"), m.PatchType, patchTypes)
	}
	return errs
}

func (e *expressions) validatePatch(kind place, expression string, path *field.Path) field.ErrorList {
	trimmed := strings.TrimSpace(expression)
	if trimmed == "" {
		return field.ErrorList{field.Required(path.Child("expression"), "")}
	}
	return e.check(kind, "", trimmed, path.Child("expression"))
}
