package v1

import (
	"context"
	"regexp"
	"strconv"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateName takes what a path can hold: kube-apiserver has no other rule for budgets.
func (b *PodDisruptionBudget) ValidateName(name string, _ bool) []string {
	return content.IsPathSegmentName(name)
}

// Validate says what kube-apiserver says of the same budget.
func (b *PodDisruptionBudget) Validate(context.Context) field.ErrorList {
	spec, at := &b.Spec, field.NewPath("spec")
	var errs field.ErrorList
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(at, *spec, "minAvailable and maxUnavailable cannot be both set"))
	}
	errs = append(errs, amount(spec.MinAvailable, at.Child("minAvailable"))...)
	errs = append(errs, amount(spec.MaxUnavailable, at.Child("maxUnavailable"))...)
	errs = append(errs, validation.ValidateLabelSelector(spec.Selector, validation.LabelSelectorValidationOptions{},
		at.Child("selector"))...)
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil && *policy != policyv1.AlwaysAllow &&
		*policy != policyv1.IfHealthyBudget {
		errs = append(errs, field.NotSupported(at.Child("unhealthyPodEvictionPolicy"), *policy,
			[]policyv1.UnhealthyPodEvictionPolicyType{policyv1.AlwaysAllow, policyv1.IfHealthyBudget}))
	}
	return errs
}

var percent = regexp.MustCompile(`^[0-9]+%$`)

// amount is a number of pods, or a share of at most all of them.
func amount(value *intstr.IntOrString, at *field.Path) field.ErrorList {
	switch {
	case value == nil:
		return nil
	case value.Type == intstr.Int && value.IntVal < 0:
		return field.ErrorList{field.Invalid(at, int64(value.IntVal), "must be greater than or equal to 0").
			WithOrigin("minimum")}
	case value.Type == intstr.Int:
		return nil
	case !percent.MatchString(value.StrVal):
		return field.ErrorList{field.Invalid(at, *value,
			"a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex "+
				"used for validation is '[0-9]+%')")}
	}
	if share, err := strconv.Atoi(value.StrVal[:len(value.StrVal)-1]); err != nil || share > 100 {
		return field.ErrorList{field.Invalid(at, *value, "must not be greater than 100%")}
	}
	return nil
}

// ValidateStatusUpdate checks what the controller reports.
func (b *PodDisruptionBudget) ValidateStatusUpdate(_ context.Context, _ *PodDisruptionBudget) field.ErrorList {
	status, at := &b.Status, field.NewPath("status")
	errs := validation.ValidateConditions(status.Conditions, at.Child("conditions"))
	for _, count := range []struct {
		name  string
		value int32
	}{
		{"disruptionsAllowed", status.DisruptionsAllowed}, {"currentHealthy", status.CurrentHealthy},
		{"desiredHealthy", status.DesiredHealthy}, {"expectedPods", status.ExpectedPods},
	} {
		if count.value < 0 {
			errs = append(errs, field.Invalid(at.Child(count.name), int64(count.value),
				"must be greater than or equal to 0").WithOrigin("minimum"))
		}
	}
	return errs
}
