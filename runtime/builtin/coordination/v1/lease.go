package v1

import (
	"context"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// PrepareForCreate_Lease clears the fields of coordinated leader election, which nobody on this server runs, as
// kube-apiserver does unless its feature gate is on.
func PrepareForCreate_Lease(_ context.Context, lease *coordinationv1.Lease) {
	lease.Spec.Strategy, lease.Spec.PreferredHolder = nil, nil
}

// PrepareForUpdate_Lease clears the fields of coordinated leader election that the lease didn't have before.
func PrepareForUpdate_Lease(_ context.Context, lease, old *coordinationv1.Lease) {
	if old.Spec.Strategy == nil {
		lease.Spec.Strategy = nil
	}
	if old.Spec.PreferredHolder == nil {
		lease.Spec.PreferredHolder = nil
	}
}

// ValidateObject_Lease returns kube-apiserver's errors for the lease.
func ValidateObject_Lease(_ context.Context, lease *coordinationv1.Lease) (errs field.ErrorList) {
	path, spec := field.NewPath("spec"), &lease.Spec
	if seconds := spec.LeaseDurationSeconds; seconds != nil && *seconds <= 0 {
		errs = append(errs, field.Invalid(path.Child("leaseDurationSeconds"), seconds, "must be greater than 0"))
	}
	if transitions := spec.LeaseTransitions; transitions != nil && *transitions < 0 {
		errs = append(errs, field.Invalid(path.Child("leaseTransitions"), transitions,
			"must be greater than or equal to 0"))
	}
	return errs
}

// AgeColumn_Lease returns when a lease was created.
func AgeColumn_Lease(lease *coordinationv1.Lease) (before string, since *metav1.Time, after string) {
	return "", &lease.CreationTimestamp, ""
}
