package v1

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PrepareForCreate_ResourceQuota leaves the status to the server.
func PrepareForCreate_ResourceQuota(_ context.Context, quota *corev1.ResourceQuota) {
	quota.Status = corev1.ResourceQuotaStatus{}
}

// ValidateObject_ResourceQuota returns kube-apiserver's errors for a quota.
func ValidateObject_ResourceQuota(_ context.Context, quota *corev1.ResourceQuota) field.ErrorList {
	spec := field.NewPath("spec")
	errs := append(validateFinalizers(quota), validateAmounts(quota.Spec.Hard, spec.Child("hard"))...)
	errs = append(errs, validateScopes(&quota.Spec, spec)...)
	if quota.Spec.ScopeSelector != nil {
		errs = append(errs, validateScopeSelector(&quota.Spec, spec.Child("scopeSelector", "matchExpressions"))...)
	}
	return errs
}

// ValidateUpdate_ResourceQuota holds the scopes, which can't change.
func ValidateUpdate_ResourceQuota(_ context.Context, quota, old *corev1.ResourceQuota) field.ErrorList {
	is, was := slices.Sorted(slices.Values(quota.Spec.Scopes)), slices.Sorted(slices.Values(old.Spec.Scopes))
	if slices.Equal(slices.Compact(is), slices.Compact(was)) {
		return nil
	}
	return field.ErrorList{field.Invalid(field.NewPath("spec", "scopes"), quota.Spec.Scopes, "field is immutable")}
}

// ValidateStatusUpdate_ResourceQuota returns kube-apiserver's errors for a status.
func ValidateStatusUpdate_ResourceQuota(_ context.Context, quota, _ *corev1.ResourceQuota) field.ErrorList {
	status := field.NewPath("status")
	return append(validateAmounts(quota.Status.Hard, status.Child("hard")),
		validateAmounts(quota.Status.Used, status.Child("used"))...)
}

// scopes are the resources that a scope can be applied to.
var scopes = map[corev1.ResourceQuotaScope][]corev1.ResourceName{
	corev1.ResourceQuotaScopeTerminating:               ofPods,
	corev1.ResourceQuotaScopeNotTerminating:            ofPods,
	corev1.ResourceQuotaScopeNotBestEffort:             ofPods,
	corev1.ResourceQuotaScopePriorityClass:             ofPods,
	corev1.ResourceQuotaScopeBestEffort:                {corev1.ResourcePods},
	corev1.ResourceQuotaScopeCrossNamespacePodAffinity: ofPods,
	corev1.ResourceQuotaScopeVolumeAttributesClass: {
		corev1.ResourcePersistentVolumeClaims, corev1.ResourceRequestsStorage,
	},
}

var ofPods = []corev1.ResourceName{
	corev1.ResourcePods, corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceLimitsCPU,
	corev1.ResourceLimitsMemory, corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory,
}

// misapplied returns an error for each resource of a quota that a scope can't be applied to.
func misapplied(
	scope corev1.ResourceQuotaScope, spec *corev1.ResourceQuotaSpec, path *field.Path, value any,
) (errs field.ErrorList) {
	allowed, known := scopes[scope]
	for _, name := range slices.Sorted(maps.Keys(spec.Hard)) {
		if known && isForQuotas(name) && !slices.Contains(allowed, name) {
			errs = append(errs, field.Invalid(path, value, "unsupported scope applied to resource"))
		}
	}
	return errs
}

// conflicts returns an error for each pair of scopes that exclude each other.
func conflicts(found []corev1.ResourceQuotaScope, path *field.Path, value any) (errs field.ErrorList) {
	for _, pair := range [][2]corev1.ResourceQuotaScope{
		{corev1.ResourceQuotaScopeBestEffort, corev1.ResourceQuotaScopeNotBestEffort},
		{corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating},
	} {
		if slices.Contains(found, pair[0]) && slices.Contains(found, pair[1]) {
			errs = append(errs, field.Invalid(path, value, "conflicting scopes"))
		}
	}
	return errs
}

func validateScopes(spec *corev1.ResourceQuotaSpec, path *field.Path) (errs field.ErrorList) {
	path = path.Child("scopes")
	for _, scope := range spec.Scopes {
		if _, known := scopes[scope]; !known {
			errs = append(errs, field.Invalid(path, spec.Scopes, "unsupported scope"))
		}
		errs = append(errs, misapplied(scope, spec, path, spec.Scopes)...)
	}
	return append(errs, conflicts(spec.Scopes, path, spec.Scopes)...)
}

func validateScopeSelector(spec *corev1.ResourceQuotaSpec, path *field.Path) (errs field.ErrorList) {
	var found []corev1.ResourceQuotaScope
	for _, required := range spec.ScopeSelector.MatchExpressions {
		if _, known := scopes[required.ScopeName]; !known {
			errs = append(errs, field.Invalid(path.Child("scopeName"), required.ScopeName, "unsupported scope"))
		}
		errs = append(errs, misapplied(required.ScopeName, spec, path, spec.ScopeSelector)...)
		errs = append(errs, validateOperator(&required, path)...)
		found = append(found, required.ScopeName)
	}
	return append(errs, conflicts(found, path, spec.Scopes)...)
}

// existing are the scopes of which a selector can only say that they exist.
var existing = []corev1.ResourceQuotaScope{
	corev1.ResourceQuotaScopeTerminating, corev1.ResourceQuotaScopeNotTerminating, corev1.ResourceQuotaScopeBestEffort,
	corev1.ResourceQuotaScopeNotBestEffort, corev1.ResourceQuotaScopeCrossNamespacePodAffinity,
}

func validateOperator(r *corev1.ScopedResourceSelectorRequirement, path *field.Path) (errs field.ErrorList) {
	if slices.Contains(existing, r.ScopeName) && r.Operator != corev1.ScopeSelectorOpExists {
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "must be 'Exists' when scope is any of "+
			"ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "+
			"ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"))
	}
	switch r.Operator {
	case corev1.ScopeSelectorOpIn, corev1.ScopeSelectorOpNotIn:
		if len(r.Values) == 0 {
			errs = append(errs, field.Required(path.Child("values"),
				"must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"))
		}
	case corev1.ScopeSelectorOpExists, corev1.ScopeSelectorOpDoesNotExist:
		if len(r.Values) != 0 {
			errs = append(errs, field.Invalid(path.Child("values"), r.Values,
				"must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"))
		}
	default:
		errs = append(errs, field.Invalid(path.Child("operator"), r.Operator, "not a valid selector operator"))
	}
	return errs
}

// RequestColumn_ResourceQuota shows what is used and allowed, but for limits.
func RequestColumn_ResourceQuota(quota *corev1.ResourceQuota) string { return usage(quota, false) }

// LimitColumn_ResourceQuota shows what is used and allowed of limits.
func LimitColumn_ResourceQuota(quota *corev1.ResourceQuota) string { return usage(quota, true) }

func usage(quota *corev1.ResourceQuota, limits bool) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(quota.Status.Hard)) {
		if strings.HasPrefix(string(name), "limits.") == limits {
			used, hard := quota.Status.Used[name], quota.Status.Hard[name]
			all = append(all, fmt.Sprintf("%s: %s/%s", name, used.String(), hard.String()))
		}
	}
	return strings.Join(all, ", ")
}

// AgeColumn_ResourceQuota returns when a quota was created.
func AgeColumn_ResourceQuota(quota *corev1.ResourceQuota) (before string, since *metav1.Time, after string) {
	return "", &quota.CreationTimestamp, ""
}
