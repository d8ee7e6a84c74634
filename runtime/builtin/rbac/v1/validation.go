package v1

import (
	"context"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// The kinds of roles.
const (
	roleKind        = "Role"
	clusterRoleKind = "ClusterRole"
)

// ValidateObject_Role returns kube-apiserver's errors for the role.
func ValidateObject_Role(_ context.Context, role *rbacv1.Role) field.ErrorList {
	return validateRules(role.Rules, true)
}

// ValidateObject_ClusterRole returns kube-apiserver's errors for the role. Those of its selectors depend on whether the
// role is new.
func ValidateObject_ClusterRole(_ context.Context, role *rbacv1.ClusterRole) field.ErrorList {
	errs := validateRules(role.Rules, false)
	if isNew(role) {
		errs = append(errs, validateAggregation(role.AggregationRule, false)...)
	}
	return errs
}

// ValidateUpdate_ClusterRole validates the selectors. Those that were wrong before may stay so.
func ValidateUpdate_ClusterRole(_ context.Context, role, old *rbacv1.ClusterRole) field.ErrorList {
	return validateAggregation(role.AggregationRule, len(validateAggregation(old.AggregationRule, false)) > 0)
}

// isNew reports whether a write creates the object: others have the resourceVersion of what they replace.
func isNew(obj metav1.Object) bool { return obj.GetResourceVersion() == "" }

func validateRules(rules []rbacv1.PolicyRule, namespaced bool) (errs field.ErrorList) {
	for i := range rules {
		errs = append(errs, validateRule(&rules[i], namespaced, field.NewPath("rules").Index(i))...)
	}
	return errs
}

func validateRule(rule *rbacv1.PolicyRule, namespaced bool, path *field.Path) (errs field.ErrorList) {
	if paths := path.Child("nonResourceURLs"); len(rule.NonResourceURLs) > 0 {
		if namespaced {
			errs = append(errs, field.Invalid(paths, rule.NonResourceURLs,
				"namespaced rules cannot apply to non-resource URLs"))
		}
		if len(rule.APIGroups)+len(rule.Resources)+len(rule.ResourceNames) > 0 {
			errs = append(errs, field.Invalid(paths, rule.NonResourceURLs,
				"rules cannot apply to both regular resources and non-resource URLs"))
		}
		return errs
	}
	if len(rule.APIGroups) == 0 {
		errs = append(errs, field.Required(path.Child("apiGroups"),
			"resource rules must supply at least one api group"))
	}
	if len(rule.Resources) == 0 {
		errs = append(errs, field.Required(path.Child("resources"),
			"resource rules must supply at least one resource"))
	}
	return errs
}

func validateAggregation(rule *rbacv1.AggregationRule, lenient bool) (errs field.ErrorList) {
	if rule == nil {
		return nil
	}
	path := field.NewPath("aggregationRule", "clusterRoleSelectors")
	if len(rule.ClusterRoleSelectors) == 0 {
		errs = append(errs, field.Required(path,
			"at least one clusterRoleSelector required if aggregationRule is non-nil"))
	}
	options := metav1validation.LabelSelectorValidationOptions{AllowInvalidLabelValueInSelector: lenient}
	for i := range rule.ClusterRoleSelectors {
		given := &rule.ClusterRoleSelectors[i]
		errs = append(errs, metav1validation.ValidateLabelSelector(given, options, path.Index(i))...)
		if selector, err := metav1.LabelSelectorAsSelector(given); err != nil {
			errs = append(errs, field.Invalid(path.Index(i), selector, "invalid label selector."))
		}
	}
	return errs
}

// ValidateObject_RoleBinding returns kube-apiserver's errors for the binding.
func ValidateObject_RoleBinding(_ context.Context, binding *rbacv1.RoleBinding) field.ErrorList {
	errs := validateRoleRef(binding.RoleRef, roleKind, clusterRoleKind)
	return append(errs, validateSubjects(binding.Subjects, true)...)
}

// ValidateUpdate_RoleBinding rejects another role.
func ValidateUpdate_RoleBinding(_ context.Context, binding, old *rbacv1.RoleBinding) field.ErrorList {
	return validateRoleRefUpdate(binding.RoleRef, old.RoleRef)
}

// ValidateObject_ClusterRoleBinding returns kube-apiserver's errors for the binding.
func ValidateObject_ClusterRoleBinding(_ context.Context, binding *rbacv1.ClusterRoleBinding) field.ErrorList {
	errs := validateRoleRef(binding.RoleRef, clusterRoleKind)
	return append(errs, validateSubjects(binding.Subjects, false)...)
}

// ValidateUpdate_ClusterRoleBinding rejects another role.
func ValidateUpdate_ClusterRoleBinding(_ context.Context, binding, old *rbacv1.ClusterRoleBinding) field.ErrorList {
	return validateRoleRefUpdate(binding.RoleRef, old.RoleRef)
}

var roleRefPath = field.NewPath("roleRef")

func validateRoleRef(ref rbacv1.RoleRef, kinds ...string) (errs field.ErrorList) {
	errs = append(errs, oneOf(roleRefPath.Child("apiGroup"), ref.APIGroup, rbacv1.GroupName)...)
	errs = append(errs, oneOf(roleRefPath.Child("kind"), ref.Kind, kinds...)...)
	if ref.Name == "" {
		return errs // the marker of the field says so
	}
	for _, message := range content.IsPathSegmentName(ref.Name) {
		errs = append(errs, field.Invalid(roleRefPath.Child("name"), ref.Name, message))
	}
	return errs
}

// validateRoleRefUpdate prints the new role as kube-apiserver does, which has no JSON names for its fields.
func validateRoleRefUpdate(ref, old rbacv1.RoleRef) field.ErrorList {
	if ref == old {
		return nil
	}
	shown := struct{ APIGroup, Kind, Name string }(ref)
	return field.ErrorList{field.Invalid(roleRefPath, shown, "cannot change roleRef")}
}

func validateSubjects(subjects []rbacv1.Subject, namespaced bool) (errs field.ErrorList) {
	for i, subject := range subjects {
		path := field.NewPath("subjects").Index(i)
		switch subject.Kind {
		case rbacv1.ServiceAccountKind:
			errs = append(errs, validateAccount(subject, namespaced, path)...)
		case rbacv1.UserKind, rbacv1.GroupKind:
			errs = append(errs, oneOf(path.Child("apiGroup"), subject.APIGroup, rbacv1.GroupName)...)
		default:
			errs = append(errs, oneOf(path.Child("kind"), subject.Kind,
				rbacv1.ServiceAccountKind, rbacv1.UserKind, rbacv1.GroupKind)...)
		}
	}
	return errs
}

func validateAccount(account rbacv1.Subject, namespaced bool, path *field.Path) (errs field.ErrorList) {
	if account.Name != "" {
		for _, message := range validation.ValidateServiceAccountName(account.Name, false) {
			errs = append(errs, field.Invalid(path.Child("name"), account.Name, message))
		}
	}
	errs = append(errs, oneOf(path.Child("apiGroup"), account.APIGroup, "")...)
	if !namespaced && account.Namespace == "" {
		errs = append(errs, field.Required(path.Child("namespace"), ""))
	}
	return errs
}

// oneOf returns an error if a value is none of those that are supported.
func oneOf(path *field.Path, value string, supported ...string) field.ErrorList {
	for _, word := range supported {
		if value == word {
			return nil
		}
	}
	return field.ErrorList{field.NotSupported(path, value, supported)}
}
