package v1

import (
	"context"
	"fmt"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var specPath = field.NewPath("spec")

var (
	failurePolicies = []registrationv1.FailurePolicyType{registrationv1.Fail, registrationv1.Ignore}
	reasons         = []metav1.StatusReason{
		metav1.StatusReasonForbidden, metav1.StatusReasonInvalid, metav1.StatusReasonRequestEntityTooLarge,
	}
)

const (
	maxAuditAnnotations = 20
	// maxAnnotationExpression is half of what the value of an audit annotation may have, in bytes.
	maxAnnotationExpression = 5 * 1024
)

// isNew reports whether a write creates the object: others have the resourceVersion of what they replace.
func isNew(obj metav1.Object) bool { return obj.GetResourceVersion() == "" }

// ValidateObject_ValidatingAdmissionPolicy returns kube-apiserver's errors for a new policy.
func ValidateObject_ValidatingAdmissionPolicy(
	ctx context.Context, policy *registrationv1.ValidatingAdmissionPolicy,
) field.ErrorList {
	if !isNew(policy) {
		return nil
	}
	errs := validateValidating(policy, false)
	if len(errs) == 0 {
		errs = authorizeKind(ctx, policy.Spec.ParamKind, nil)
	}
	return errs
}

// ValidateUpdate_ValidatingAdmissionPolicy returns kube-apiserver's errors for a changed policy.
func ValidateUpdate_ValidatingAdmissionPolicy(
	ctx context.Context, policy, old *registrationv1.ValidatingAdmissionPolicy,
) field.ErrorList {
	same := equality.Semantic.DeepEqual(policy.Spec.ParamKind, old.Spec.ParamKind) &&
		equality.Semantic.DeepEqual(policy.Spec.MatchConditions, old.Spec.MatchConditions)
	errs := validateValidating(policy, same)
	if len(errs) == 0 {
		errs = authorizeKind(ctx, policy.Spec.ParamKind, old.Spec.ParamKind)
	}
	return errs
}

// validateValidating doesn't look at match conditions that are the same as before.
func validateValidating(policy *registrationv1.ValidatingAdmissionPolicy, sameConditions bool) field.ErrorList {
	spec := &policy.Spec
	errs := validateConstraints(spec.FailurePolicy, spec.ParamKind, spec.MatchConstraints)
	params := spec.ParamKind != nil
	if !sameConditions {
		errs = append(errs, validateConditions(spec.MatchConditions, params, specPath.Child("matchConditions"))...)
	}
	compiler := newValidations(params, spec.Variables)
	errs = append(errs, compiler.validateVariables(spec.Variables, specPath.Child("variables"))...)
	if len(spec.Validations)+len(spec.AuditAnnotations) == 0 {
		const detail = "validations or auditAnnotations must contain at least one item"
		return append(errs, field.Required(specPath.Child("validations"), detail),
			field.Required(specPath.Child("auditAnnotations"), detail))
	}
	for i := range spec.Validations {
		path := specPath.Child("validations").Index(i)
		errs = append(errs, compiler.validateValidation(&spec.Validations[i], path)...)
	}
	return append(errs, compiler.validateAnnotations(policy.Name, spec.AuditAnnotations)...)
}

// validateConstraints validates what both kinds of policies have.
func validateConstraints(
	failure *registrationv1.FailurePolicyType, kind *registrationv1.ParamKind, match *registrationv1.MatchResources,
) field.ErrorList {
	errs := requiredOneOf(specPath.Child("failurePolicy"), failure, failurePolicies)
	if kind != nil {
		errs = append(errs, validateParamKind(kind, specPath.Child("paramKind"))...)
	}
	path := specPath.Child("matchConstraints")
	if match == nil {
		return append(errs, field.Required(path, ""))
	}
	errs = append(errs, validateMatch(match, path)...)
	if len(match.ResourceRules) == 0 {
		errs = append(errs, field.Required(path.Child("resourceRules"), ""))
	}
	return errs
}

func validateParamKind(kind *registrationv1.ParamKind, path *field.Path) field.ErrorList {
	errs := validateAPIVersion(kind.APIVersion, path.Child("apiVersion"))
	if kind.Kind == "" {
		return append(errs, field.Required(path.Child("kind"), ""))
	}
	if messages := validation.IsDNS1035Label(strings.ToLower(kind.Kind)); len(messages) > 0 {
		errs = append(errs, field.Invalid(path.Child("kind"), kind.Kind,
			"may have mixed case, but should otherwise match: "+strings.Join(messages, ",")))
	}
	return errs
}

func validateAPIVersion(version string, path *field.Path) (errs field.ErrorList) {
	if version == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	parsed, err := schema.ParseGroupVersion(version)
	if err != nil {
		return field.ErrorList{field.Invalid(path, version, err.Error())}
	}
	if parsed.Group != "" {
		if messages := validation.IsDNS1123Subdomain(parsed.Group); len(messages) > 0 {
			errs = append(errs, field.Invalid(path, parsed.Group, strings.Join(messages, ",")))
		}
	}
	if parsed.Version == "" {
		return append(errs, field.Invalid(path, version, "version must be specified"))
	}
	if messages := validation.IsDNS1035Label(parsed.Version); len(messages) > 0 {
		errs = append(errs, field.Invalid(path, parsed.Version, strings.Join(messages, ",")))
	}
	return errs
}

func (e *expressions) validateValidation(v *registrationv1.Validation, path *field.Path) (errs field.ErrorList) {
	if strings.TrimSpace(v.Expression) == "" {
		errs = append(errs, field.Required(path.Child("expression"), "expression is not specified"))
	} else {
		errs = append(errs, e.check(condition, "", v.Expression, path.Child("expression"))...)
	}
	switch {
	case v.MessageExpression == "":
	case strings.TrimSpace(v.MessageExpression) == "":
		errs = append(errs, field.Invalid(path.Child("messageExpression"), v.MessageExpression,
			"must be non-empty if specified"))
	default:
		errs = append(errs, e.check(message, "", v.MessageExpression, path.Child("messageExpression"))...)
	}
	switch trimmed := strings.TrimSpace(v.Message); {
	case v.Message != "" && trimmed == "":
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, "must be non-empty if specified"))
	case strings.ContainsAny(trimmed, "\n\r"):
		errs = append(errs, field.Invalid(path.Child("message"), v.Message, "must not contain line breaks"))
	}
	if v.Reason != nil {
		errs = append(errs, oneOf(path.Child("reason"), *v.Reason, reasons)...)
	}
	return errs
}

func (e *expressions) validateAnnotations(
	policy string, annotations []registrationv1.AuditAnnotation,
) (errs field.ErrorList) {
	path := specPath.Child("auditAnnotations")
	if len(annotations) > maxAuditAnnotations {
		errs = append(errs, field.Invalid(path, shownAnnotations(annotations),
			fmt.Sprintf("must not have more than %d auditAnnotations", maxAuditAnnotations)))
	}
	keys := map[string]bool{}
	for i, a := range annotations {
		at := path.Index(i)
		if policy == "" {
			errs = append(errs, field.Invalid(at.Child("key"), a.Key, "requires metadata.name be non-empty"))
		} else {
			errs = append(errs, validateQualifiedName(policy+"/"+a.Key, at.Child("key"))...)
		}
		errs = append(errs, e.validateAnnotationValue(a.ValueExpression, at.Child("valueExpression"))...)
		if keys[a.Key] {
			errs = append(errs, field.Duplicate(at.Child("key"), a.Key))
		}
		keys[a.Key] = true
	}
	return errs
}

// shownAnnotations prints annotations as kube-apiserver does, which has no JSON names for their fields.
func shownAnnotations(annotations []registrationv1.AuditAnnotation) any {
	type shown struct{ Key, ValueExpression string }
	var all []shown
	for _, a := range annotations {
		all = append(all, shown(a))
	}
	return all
}

func (e *expressions) validateAnnotationValue(expression string, path *field.Path) field.ErrorList {
	switch trimmed := strings.TrimSpace(expression); {
	case trimmed == "":
		return field.ErrorList{field.Required(path, "valueExpression is not specified")}
	case len(trimmed) > maxAnnotationExpression:
		return field.ErrorList{field.Required(path,
			fmt.Sprintf("must not exceed %d bytes in length", maxAnnotationExpression))}
	}
	return e.check(annotation, "", expression, path)
}

// ValidateStatus_ValidatingAdmissionPolicy validates the results of type checking. Markers validate the conditions.
func ValidateStatus_ValidatingAdmissionPolicy(
	_ context.Context, policy, _ *registrationv1.ValidatingAdmissionPolicy,
) (errs field.ErrorList) {
	if policy.Status.TypeChecking == nil {
		return nil
	}
	path := field.NewPath("status", "typeChecking", "expressionWarnings")
	for i, warning := range policy.Status.TypeChecking.ExpressionWarnings {
		if warning.Warning == "" {
			errs = append(errs, field.Required(path.Index(i).Child("warning"), ""))
		}
		if strings.TrimSpace(warning.FieldRef) == "" {
			errs = append(errs, field.Required(path.Index(i).Child("fieldRef"), ""))
		}
	}
	return errs
}

// staticSuffix ends the names of policies and webhooks from manifests on disk.
const staticSuffix = ".static.k8s.io"

const staticDetail = `names ending with "` + staticSuffix +
	`" are reserved for static manifest-based configurations and cannot be managed via the API`

// warnOfStaticSuffix warns of a name that kube-apiserver keeps for manifests on disk.
func warnOfStaticSuffix(obj metav1.Object) []string {
	if !strings.HasSuffix(obj.GetName(), staticSuffix) {
		return nil
	}
	return []string{"metadata.name: " + staticDetail}
}
