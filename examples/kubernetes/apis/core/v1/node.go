package v1

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_NodeStatus lets pods have all that a node has.
func SetDefaults_NodeStatus(in *corev1.NodeStatus) {
	if in.Allocatable == nil && in.Capacity != nil {
		in.Allocatable = in.Capacity.DeepCopy()
	}
}

// PrepareForCreate_Node removes the field of a feature that kube-apiserver doesn't enable by default.
func PrepareForCreate_Node(_ context.Context, in *corev1.Node) { in.Spec.PodPreemptionPolicy = nil }

// PrepareForUpdate_Node keeps the status.
func PrepareForUpdate_Node(_ context.Context, in, old *corev1.Node) {
	in.Status = old.Status
	in.Spec.PodPreemptionPolicy = nil
}

// ValidateObject_Node returns the errors of a node.
func ValidateObject_Node(_ context.Context, in *corev1.Node) field.ErrorList {
	path := field.NewPath("spec")
	errs := validateTaints(in.Spec.Taints)
	cidrs := path.Child("podCIDRs")
	errs = append(errs, rule.Each(in.Spec.PodCIDRs, cidrs, func(cidr *string, path *field.Path) rule.Errors {
		return validation.IsValidCIDRForLegacyField(path, *cidr, true, nil)
	})...)
	return append(errs, rule.When(len(in.Spec.PodCIDRs) > 2, field.Invalid(cidrs, in.Spec.PodCIDRs,
		"may specify no more than one CIDR for each IP family"))...)
}

// validateTaints validates taints. The path in their errors is kube-apiserver's.
func validateTaints(taints []corev1.Taint) rule.Errors {
	return rule.Each(taints, field.NewPath("metadata", "taints"), func(t *corev1.Taint, path *field.Path) rule.Errors {
		errs := append(metav1validation.ValidateLabelName(t.Key, path.Child("key")),
			rule.Texts(path.Child("value"), t.Value, validation.IsValidLabelValue(t.Value))...)
		if t.Effect == "" {
			errs = append(errs, field.Required(path.Child("effect"), ""))
		} else {
			errs = append(errs, pod.Effect(path.Child("effect"), t.Effect)...)
		}
		same := func(other corev1.Taint) bool { return other.Key == t.Key && other.Effect == t.Effect }
		twice := field.Duplicate(path, *t)
		twice.Detail = "taints must be unique by key and effect pair"
		first := slices.IndexFunc(taints, same)
		return append(errs, rule.When(&taints[first] != t, twice)...)
	})
}

// ValidateUpdate_Node holds the ranges and the provider of a node.
func ValidateUpdate_Node(_ context.Context, in, old *corev1.Node) field.ErrorList {
	is, was, path := &in.Spec, &old.Spec, field.NewPath("spec")
	errs := rule.When(len(was.PodCIDRs) > 0 && !slices.Equal(is.PodCIDRs, was.PodCIDRs), field.Forbidden(
		path.Child("podCIDRs"), "node updates may not change podCIDR except from \"\" to valid"))
	if was.ProviderID == "" || is.ProviderID == was.ProviderID {
		return errs
	}
	message := "field cannot be modified once set"
	if is.ProviderID == "" {
		message = "field cannot be cleared once set"
	}
	return append(errs, field.Invalid(path.Child("providerID"), nil, message))
}

// ValidateStatusUpdate_Node returns the errors of a status.
func ValidateStatusUpdate_Node(_ context.Context, in, _ *corev1.Node) (errs field.ErrorList) {
	path := field.NewPath("status", "addresses")
	for i, address := range in.Status.Addresses {
		errs = append(errs, rule.When(slices.Contains(in.Status.Addresses[:i], address), field.Duplicate(path.Index(i),
			address))...)
	}
	for name, amount := range in.Status.Capacity {
		errs = append(errs, pod.ValidateQuantity(field.NewPath("status", "capacity", string(name)), name, amount)...)
	}
	return errs
}
