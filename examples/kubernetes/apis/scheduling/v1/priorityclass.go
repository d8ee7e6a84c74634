package v1

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_PriorityClass lets pods of the class evict others.
func SetDefaults_PriorityClass(in *schedulingv1.PriorityClass) {
	defaults.Pointer(&in.PreemptionPolicy, corev1.PreemptLowerPriority)
}

// PrepareForCreate_PriorityClass sets the generation, which never changes.
func PrepareForCreate_PriorityClass(_ context.Context, in *schedulingv1.PriorityClass) {
	in.Generation = 1
}

// The classes of the system, and what others may have.
const (
	systemPrefix = "system-"
	mostOfUsers  = 1_000_000_000
)

var systemClasses = map[string]int32{
	"system-node-critical": 2*mostOfUsers + 1000, "system-cluster-critical": 2 * mostOfUsers,
}

// ValidateObject_PriorityClass returns the errors of a class.
func ValidateObject_PriorityClass(_ context.Context, in *schedulingv1.PriorityClass) field.ErrorList {
	if in.ResourceVersion != "" {
		return nil
	}
	errs := validateValue(in)
	if in.PreemptionPolicy == nil {
		return errs
	}
	return append(errs, rule.RequiredOneOf(field.NewPath("preemptionPolicy"), *in.PreemptionPolicy,
		corev1.PreemptLowerPriority, corev1.PreemptNever)...)
}

func validateValue(in *schedulingv1.PriorityClass) rule.Errors {
	if !strings.HasPrefix(in.Name, systemPrefix) {
		return rule.When(in.Value > mostOfUsers, field.Forbidden(field.NewPath("value"), fmt.Sprintf(
			"maximum allowed value of a user defined priority is %v", int32(mostOfUsers))))
	}
	value, known := systemClasses[in.Name]
	wrong := ""
	switch {
	case !known:
		wrong = in.Name + " is not a known system priority class"
	case in.Value != value:
		wrong = fmt.Sprintf("value of %v PriorityClass must be %v", in.Name, value)
	case in.GlobalDefault:
		wrong = fmt.Sprintf("globalDefault of %v PriorityClass must be %v", in.Name, false)
	default:
		return nil
	}
	return rule.Errors{field.Forbidden(field.NewPath("metadata", "name"), "priority class names with 'system-' prefix "+
		"are reserved for system use only. error: "+wrong)}
}

// ValidateUpdate_PriorityClass holds what pods of the class have.
func ValidateUpdate_PriorityClass(_ context.Context, in, old *schedulingv1.PriorityClass) field.ErrorList {
	return append(rule.When(in.Value != old.Value, field.Forbidden(field.NewPath("value"),
		"may not be changed in an update.")),
		rule.Immutable(field.NewPath("preemptionPolicy"), in.PreemptionPolicy, old.PreemptionPolicy)...)
}
