package v1

import (
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
)

// ConditionColumn_CertificateSigningRequest tells what was decided on a request.
func ConditionColumn_CertificateSigningRequest(in *certificatesv1.CertificateSigningRequest) string {
	var out []string
	for _, c := range in.Status.Conditions {
		out = append(out, string(c.Type))
	}
	if len(in.Status.Certificate) > 0 {
		out = append(out, "Issued")
	}
	if len(out) == 0 {
		return "Pending"
	}
	return strings.Join(out, ",")
}
