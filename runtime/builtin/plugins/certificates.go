package plugins

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/auth"
	certificatesv1 "apigen.dev/runtime/builtin/certificates/v1"
	"apigen.dev/runtime/internal/request"
	certificates "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// certificateApproval is the plug-in CertificateApproval: who approves a request must have the permission to approve
// for its signer.
func certificateApproval() admission.Plugin {
	return admission.For(admission.Typed[*certificates.CertificateSigningRequest]{
		Name: "CertificateApproval", Operations: []admission.Operation{admission.Update},
		Subresources: []string{"approval"},
		Validate: func(
			ctx context.Context, a *admission.Attributes, _, old *certificates.CertificateSigningRequest,
		) error {
			if signer := old.Spec.SignerName; !mayForSigner(ctx, a.User, "approve", signer) {
				return fmt.Errorf("user not permitted to approve requests with signerName %q", signer)
			}
			return nil
		},
	})
}

// certificateSigning is the plug-in CertificateSigning: who fills in the certificate, or sets conditions beside it,
// must have the permission to sign for the signer.
func certificateSigning() admission.Plugin {
	return admission.For(admission.Typed[*certificates.CertificateSigningRequest]{
		Name: "CertificateSigning", Operations: []admission.Operation{admission.Update},
		Subresources: []string{"status"},
		Validate: func(
			ctx context.Context, a *admission.Attributes, csr, old *certificates.CertificateSigningRequest,
		) error {
			if slices.Equal(csr.Status.Certificate, old.Status.Certificate) &&
				equality.Semantic.DeepEqual(csr.Status.Conditions, old.Status.Conditions) {
				return nil
			}
			if signer := old.Spec.SignerName; !mayForSigner(ctx, a.User, "sign", signer) {
				return fmt.Errorf("user not permitted to sign requests with signerName %q", signer)
			}
			return nil
		},
	})
}

// mayForSigner reports whether a user has a verb on a signer, or on all signers of its domain.
func mayForSigner(ctx context.Context, user *auth.User, verb, signer string) bool {
	domain, _, _ := strings.Cut(signer, "/")
	for _, name := range []string{signer, domain + "/*"} {
		ok, _, _ := allowed(ctx, user, request.Info{
			Verb: verb, Group: certificates.GroupName, Version: "*", Resource: "signers", Name: name,
		})
		if ok {
			return true
		}
	}
	return false
}

// certificateSubjects is the plug-in CertificateSubjectRestriction: no certificate of a client may be in the group
// system:masters.
func certificateSubjects() admission.Plugin {
	return admission.For(admission.Typed[*certificates.CertificateSigningRequest]{
		Name: "CertificateSubjectRestriction", Operations: []admission.Operation{admission.Create},
		Validate: func(
			_ context.Context, _ *admission.Attributes, csr, _ *certificates.CertificateSigningRequest,
		) error {
			if csr.Spec.SignerName != certificates.KubeAPIServerClientSignerName {
				return nil
			}
			parsed, err := certificatesv1.ParseRequest(csr.Spec.Request)
			if err != nil {
				return fmt.Errorf("failed to parse CSR: %w", err)
			}
			if slices.Contains(parsed.Subject.Organization, auth.Masters) {
				return fmt.Errorf("use of %s signer with %s group is not allowed", csr.Spec.SignerName, auth.Masters)
			}
			return nil
		},
	})
}
