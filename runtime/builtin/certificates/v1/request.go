package v1

import (
	"context"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

// request is short for the type.
type request = certificatesv1.CertificateSigningRequest

// PrepareForCreate_CertificateSigningRequest says who asks, whatever a client says, and leaves the status to others.
func PrepareForCreate_CertificateSigningRequest(
	ctx context.Context, csr *certificatesv1.CertificateSigningRequest,
) {
	csr.Spec.Username, csr.Spec.UID, csr.Spec.Groups, csr.Spec.Extra = "", "", nil, nil
	if user := auth.UserFrom(ctx); user != nil {
		csr.Spec.Username, csr.Spec.UID, csr.Spec.Groups = user.Name, user.UID, slices.Clone(user.Groups)
		for key, values := range user.Extra {
			if csr.Spec.Extra == nil {
				csr.Spec.Extra = map[string]certificatesv1.ExtraValue{}
			}
			csr.Spec.Extra[key] = slices.Clone(values)
		}
	}
	csr.Status = certificatesv1.CertificateSigningRequestStatus{}
}

// PrepareForUpdate_CertificateSigningRequest keeps what is asked for: it can't change.
func PrepareForUpdate_CertificateSigningRequest(
	_ context.Context, csr, old *certificatesv1.CertificateSigningRequest,
) {
	csr.Spec, csr.Status = old.Spec, old.Status
}

// PrepareForStatusUpdate_CertificateSigningRequest keeps the decision, and sets the times of conditions.
func PrepareForStatusUpdate_CertificateSigningRequest(
	_ context.Context, csr, old *certificatesv1.CertificateSigningRequest,
) {
	csr.Spec = old.Spec
	for _, kind := range decisions {
		keepConditions(csr, old, kind)
	}
	setTimes(csr, old)
}

// PrepareForApprovalUpdate_CertificateSigningRequest sets the times of conditions.
func PrepareForApprovalUpdate_CertificateSigningRequest(
	_ context.Context, csr, old *certificatesv1.CertificateSigningRequest,
) {
	setTimes(csr, old)
}

// decisions are the conditions that only an approver sets.
var decisions = []certificatesv1.RequestConditionType{
	certificatesv1.CertificateApproved, certificatesv1.CertificateDenied,
}

// keepConditions keeps the conditions of a type, unless there are more or fewer of them now, which is then an error.
func keepConditions(csr, old *request, kind certificatesv1.RequestConditionType) {
	was := conditionsOf(old, kind)
	if len(conditionsOf(csr, kind)) != len(was) {
		return
	}
	for i := range csr.Status.Conditions {
		if csr.Status.Conditions[i].Type == kind {
			csr.Status.Conditions[i], was = was[0], was[1:]
		}
	}
}

func conditionsOf(
	csr *request, kind certificatesv1.RequestConditionType,
) (found []certificatesv1.CertificateSigningRequestCondition) {
	for _, c := range csr.Status.Conditions {
		if c.Type == kind {
			found = append(found, c)
		}
	}
	return found
}

// setTimes sets the times that a client left out. A condition keeps its transition time as long as its status stays.
func setTimes(csr, old *request) {
	now := metav1.Now()
	for i := range csr.Status.Conditions {
		c := &csr.Status.Conditions[i]
		if c.LastUpdateTime.IsZero() {
			c.LastUpdateTime = now
		}
		if !c.LastTransitionTime.IsZero() {
			continue
		}
		c.LastTransitionTime = now
		for _, was := range old.Status.Conditions {
			if was.Type == c.Type && was.Status == c.Status && !was.LastTransitionTime.IsZero() {
				c.LastTransitionTime = was.LastTransitionTime
				break
			}
		}
	}
}

// AgeColumn_CertificateSigningRequest returns when a request was created.
func AgeColumn_CertificateSigningRequest(
	csr *certificatesv1.CertificateSigningRequest,
) (before string, since *metav1.Time, after string) {
	return "", &csr.CreationTimestamp, ""
}

// DurationColumn_CertificateSigningRequest shows for how long a certificate is asked for.
func DurationColumn_CertificateSigningRequest(csr *certificatesv1.CertificateSigningRequest) string {
	if csr.Spec.ExpirationSeconds == nil {
		return "<none>"
	}
	return duration.HumanDuration(time.Duration(*csr.Spec.ExpirationSeconds) * time.Second)
}

// ConditionColumn_CertificateSigningRequest shows how far a request is.
func ConditionColumn_CertificateSigningRequest(csr *certificatesv1.CertificateSigningRequest) string {
	has := func(kind certificatesv1.RequestConditionType) bool { return len(conditionsOf(csr, kind)) > 0 }
	text := "Pending"
	switch {
	case has(certificatesv1.CertificateDenied):
		text = "Denied"
	case has(certificatesv1.CertificateApproved):
		text = "Approved"
	}
	if has(certificatesv1.CertificateFailed) {
		text += ",Failed"
	}
	if len(csr.Status.Certificate) > 0 {
		text += ",Issued"
	}
	return text
}

// statuses are those of conditions.
var statuses = []corev1.ConditionStatus{corev1.ConditionFalse, corev1.ConditionTrue, corev1.ConditionUnknown}
