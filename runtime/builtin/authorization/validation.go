package authorization

import (
	"fmt"

	authorizationv1 "k8s.io/api/authorization/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

var specPath = field.NewPath("spec")

// validateSubject returns the errors of a review of some user.
func validateSubject(spec *authorizationv1.SubjectAccessReviewSpec) field.ErrorList {
	errs := validateAttributes(spec.ResourceAttributes, spec.NonResourceAttributes)
	if spec.User == "" && len(spec.Groups) == 0 {
		errs = append(errs, field.Invalid(specPath.Child("user"), spec.User,
			"at least one of user or group must be specified"))
	}
	return append(errs, validateSelectors(spec.ResourceAttributes)...)
}

func validateLocal(review *authorizationv1.LocalSubjectAccessReview) field.ErrorList {
	errs, metadata := validateSubject(&review.Spec), review.ObjectMeta
	metadata.Namespace = ""
	if !isEmpty(metadata) {
		errs = append(errs, field.Invalid(field.NewPath("metadata"), review.ObjectMeta,
			"must be empty except for namespace"))
	}
	if in := review.Spec.ResourceAttributes; in != nil && in.Namespace != review.Namespace {
		errs = append(errs, field.Invalid(specPath.Child("resourceAttributes", "namespace"), in.Namespace,
			"must match metadata.namespace"))
	}
	if path := review.Spec.NonResourceAttributes; path != nil {
		errs = append(errs, field.Invalid(specPath.Child("nonResourceAttributes"), shown(path),
			"disallowed on this kind of request"))
	}
	return errs
}

func validateEmpty(metadata metav1.ObjectMeta) field.ErrorList {
	if isEmpty(metadata) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("metadata"), metadata, "must be empty")}
}

func isEmpty(metadata metav1.ObjectMeta) bool {
	metadata.ManagedFields = nil
	return equality.Semantic.DeepEqual(metav1.ObjectMeta{}, metadata)
}

// validateAttributes wants one of the two kinds of attributes.
func validateAttributes(
	resource *authorizationv1.ResourceAttributes, path *authorizationv1.NonResourceAttributes,
) field.ErrorList {
	switch {
	case resource != nil && path != nil:
		return field.ErrorList{field.Invalid(specPath.Child("nonResourceAttributes"), shown(path),
			"cannot be specified in combination with resourceAttributes")}
	case resource == nil && path == nil:
		return field.ErrorList{field.Invalid(specPath.Child("resourceAttributes"), shown(path),
			"exactly one of nonResourceAttributes or resourceAttributes must be specified")}
	}
	return nil
}

// shown returns attributes as the errors of kube-apiserver show them: without JSON names of the fields.
func shown(path *authorizationv1.NonResourceAttributes) *struct{ Path, Verb string } {
	return (*struct{ Path, Verb string })(path)
}

// validateSelectors returns the errors of the selectors. Operators that this server doesn't know are none: newer
// clients may have them.
func validateSelectors(resource *authorizationv1.ResourceAttributes) (errs field.ErrorList) {
	if resource == nil {
		return nil
	}
	path := specPath.Child("resourceAttributes")
	if s := resource.FieldSelector; s != nil {
		at := path.Child("fieldSelector")
		errs = validateForms(at, s.RawSelector, len(s.Requirements))
		options := metav1validation.FieldSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, r := range s.Requirements {
			errs = append(errs, metav1validation.ValidateFieldSelectorRequirement(r, options,
				at.Child("requirements").Index(i))...)
		}
	}
	if s := resource.LabelSelector; s != nil {
		at := path.Child("labelSelector")
		errs = append(errs, validateForms(at, s.RawSelector, len(s.Requirements))...)
		options := metav1validation.LabelSelectorValidationOptions{AllowUnknownOperatorInRequirement: true}
		for i, r := range s.Requirements {
			errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(r, options,
				at.Child("requirements").Index(i))...)
		}
	}
	return errs
}

// validateForms wants a selector either as text or as requirements.
func validateForms(path *field.Path, raw string, requirements int) field.ErrorList {
	switch {
	case raw != "" && requirements > 0:
		return field.ErrorList{field.Invalid(path.Child("rawSelector"), raw,
			"may not specified at the same time as requirements")}
	case raw == "" && requirements == 0:
		return field.ErrorList{field.Required(path.Child("requirements"),
			fmt.Sprintf("when %s is specified, requirements or rawSelector is required", path))}
	}
	return nil
}
