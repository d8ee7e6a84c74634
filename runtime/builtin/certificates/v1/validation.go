package v1

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// usages are those that can be asked for, in the order of their names.
var usages = slices.Sorted(slices.Values([]certificatesv1.KeyUsage{
	certificatesv1.UsageSigning, certificatesv1.UsageDigitalSignature, certificatesv1.UsageContentCommitment,
	certificatesv1.UsageKeyEncipherment, certificatesv1.UsageKeyAgreement, certificatesv1.UsageDataEncipherment,
	certificatesv1.UsageCertSign, certificatesv1.UsageCRLSign, certificatesv1.UsageEncipherOnly,
	certificatesv1.UsageDecipherOnly, certificatesv1.UsageAny, certificatesv1.UsageServerAuth,
	certificatesv1.UsageClientAuth, certificatesv1.UsageCodeSigning, certificatesv1.UsageEmailProtection,
	certificatesv1.UsageSMIME, certificatesv1.UsageIPsecEndSystem, certificatesv1.UsageIPsecTunnel,
	certificatesv1.UsageIPsecUser, certificatesv1.UsageTimestamping, certificatesv1.UsageOCSPSigning,
	certificatesv1.UsageMicrosoftSGC, certificatesv1.UsageNetscapeSGC,
}))

const (
	legacySigner = "kubernetes.io/legacy-unknown"
	// minExpiration is the shortest life of a certificate that can be asked for, in seconds.
	minExpiration = 600
)

// ValidateObject_CertificateSigningRequest returns kube-apiserver's errors for a new request.
func ValidateObject_CertificateSigningRequest(
	_ context.Context, csr *certificatesv1.CertificateSigningRequest,
) (errs field.ErrorList) {
	if csr.ResourceVersion != "" { // what is asked for can't change
		return nil
	}
	spec := field.NewPath("spec")
	if err := checkRequest(csr.Spec.Request); err != nil {
		errs = append(errs, field.Invalid(spec.Child("request"), csr.Spec.Request, err.Error()))
	}
	errs = append(errs, validateUsages(csr.Spec.Usages, spec.Child("usages"))...)
	if csr.Spec.SignerName == legacySigner {
		errs = append(errs, field.Invalid(spec.Child("signerName"), csr.Spec.SignerName,
			"the legacy signerName is not allowed via this API version"))
	} else {
		errs = append(errs, validateSigner(csr.Spec.SignerName, spec.Child("signerName"))...)
	}
	if seconds := csr.Spec.ExpirationSeconds; seconds != nil && *seconds < minExpiration {
		errs = append(errs, field.Invalid(spec.Child("expirationSeconds"), *seconds,
			"may not specify a duration less than 600 seconds (10 minutes)"))
	}
	return errs
}

// checkRequest parses a PKCS#10 request in PEM, and verifies its signature.
func checkRequest(data []byte) error {
	parsed, err := ParseRequest(data)
	if err != nil {
		return err
	}
	return parsed.CheckSignature()
}

// ParseRequest parses a PKCS#10 request in PEM. It doesn't verify the signature.
func ParseRequest(data []byte) (*x509.CertificateRequest, error) {
	block, _ := pem.Decode(data)
	if block == nil || block.Type != "CERTIFICATE REQUEST" {
		return nil, errors.New("PEM block type must be CERTIFICATE REQUEST")
	}
	return x509.ParseCertificateRequest(block.Bytes)
}

func validateUsages(asked []certificatesv1.KeyUsage, path *field.Path) (errs field.ErrorList) {
	if len(asked) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	for i, usage := range asked {
		if !slices.Contains(usages, usage) {
			errs = append(errs, field.NotSupported(path.Index(i), usage, usages))
		}
	}
	for i, usage := range asked {
		if slices.Contains(asked[:i], usage) {
			errs = append(errs, field.Duplicate(path.Index(i), usage))
		}
	}
	return errs
}

// maxSigner is the length of the longest name of a signer: a domain, a slash, and a path that holds the names of a
// namespace and of a resource with a dot between them.
const maxSigner = 2*validation.DNS1123SubdomainMaxLength + validation.DNS1123LabelMaxLength + 2

// validateSigner validates a name of the form domain/path.
func validateSigner(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	domain, rest, found := strings.Cut(name, "/")
	if !found || strings.Contains(rest, "/") {
		return field.ErrorList{field.Invalid(path, name,
			"must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}
	var errs field.ErrorList
	if len(domain) > validation.DNS1123SubdomainMaxLength {
		errs = append(errs, field.TooLong(path, "", validation.DNS1123SubdomainMaxLength))
	}
	errs = append(errs, validateLabels(domain, validation.IsDNS1123Label, path)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain,
			"should be a domain with at least two segments separated by dots"))
	}
	errs = append(errs, validateLabels(rest, validation.IsDNS1123Subdomain, path)...)
	if len(name) > maxSigner {
		errs = append(errs, field.TooLong(path, "", maxSigner))
	}
	return errs
}

// validateLabels returns the errors of the first label of a name that breaks a rule.
func validateLabels(name string, rule func(string) []string, path *field.Path) (errs field.ErrorList) {
	for label := range strings.SplitSeq(name, ".") {
		for _, message := range rule(label) {
			errs = append(errs, field.Invalid(path, name, fmt.Sprintf("validating label %q: %s", label, message)))
		}
		if len(errs) > 0 {
			return errs
		}
	}
	return nil
}

// ValidateStatusUpdate_CertificateSigningRequest refuses what a signer may not change.
func ValidateStatusUpdate_CertificateSigningRequest(
	_ context.Context, csr, old *certificatesv1.CertificateSigningRequest,
) field.ErrorList {
	errs := append(validateStatus(csr, old), validateDecision(csr, old)...)
	if len(old.Status.Certificate) > 0 && !bytes.Equal(csr.Status.Certificate, old.Status.Certificate) {
		errs = append(errs, field.Forbidden(certificatePath, "updates may not modify existing certificate content"))
	}
	return errs
}

// ValidateApprovalUpdate_CertificateSigningRequest refuses what an approver may not change.
func ValidateApprovalUpdate_CertificateSigningRequest(
	_ context.Context, csr, old *certificatesv1.CertificateSigningRequest,
) field.ErrorList {
	return validateStatus(csr, old)
}

var (
	conditionsPath  = field.NewPath("status", "conditions")
	certificatePath = field.NewPath("status", "certificate")
)

// final are the conditions that can't be removed, and that are true.
var final = []certificatesv1.RequestConditionType{
	certificatesv1.CertificateApproved, certificatesv1.CertificateDenied, certificatesv1.CertificateFailed,
}

// validateStatus validates conditions and certificate. What an object has that was there before is not an error.
func validateStatus(csr, old *request) field.ErrorList {
	errs := validateConditions(csr, old)
	if !bytes.Equal(csr.Status.Certificate, old.Status.Certificate) {
		if err := checkCertificate(csr.Status.Certificate); err != nil {
			errs = append(errs, field.Invalid(certificatePath, "<certificate data>", err.Error()))
		}
	}
	for _, kind := range final {
		if len(conditionsOf(csr, kind)) < len(conditionsOf(old, kind)) {
			errs = append(errs, field.Forbidden(conditionsPath,
				fmt.Sprintf("updates may not remove a condition of type %q", kind)))
		}
	}
	return errs
}

func validateConditions(csr, old *request) (errs field.ErrorList) {
	allowed := tolerated(old)
	seen := map[certificatesv1.RequestConditionType]bool{}
	for i, c := range csr.Status.Conditions {
		path := conditionsPath.Index(i)
		if c.Type == "" && !allowed.empty {
			errs = append(errs, field.Required(path.Child("type"), ""))
		}
		known := statuses
		if slices.Contains(final, c.Type) {
			known = []corev1.ConditionStatus{corev1.ConditionTrue}
		}
		switch {
		case c.Status == "":
			errs = append(errs, field.Required(path.Child("status"), ""))
		case !slices.Contains(known, c.Status):
			errs = append(errs, field.NotSupported(path.Child("status"), c.Status, known))
		}
		if seen[c.Type] && !allowed.twice {
			errs = append(errs, field.Duplicate(path.Child("type"), c.Type))
		}
		seen[c.Type] = true
	}
	return errs
}

// tolerance says what is wrong with conditions already.
type tolerance struct{ empty, twice bool }

func tolerated(old *request) (t tolerance) {
	seen := map[certificatesv1.RequestConditionType]bool{}
	for _, c := range old.Status.Conditions {
		t.empty, t.twice = t.empty || c.Type == "", t.twice || seen[c.Type]
		seen[c.Type] = true
	}
	return t
}

// validateDecision refuses a decision of somebody who is not an approver.
func validateDecision(csr, old *request) (errs field.ErrorList) {
	for _, kind := range decisions {
		is, was := conditionsOf(csr, kind), conditionsOf(old, kind)
		switch {
		case len(is) < len(was):
		case len(is) > len(was):
			errs = append(errs, field.Forbidden(conditionsPath,
				fmt.Sprintf("updates may not add a condition of type %q", kind)))
		case !equality.Semantic.DeepEqual(is, was):
			errs = append(errs, field.Forbidden(conditionsPath,
				fmt.Sprintf("updates may not modify a condition of type %q\n%v", kind, diff.Diff(was, is))))
		}
	}
	return errs
}

// checkCertificate checks that data are certificates in PEM.
func checkCertificate(data []byte) error {
	if len(data) == 0 {
		return nil
	}
	for found := false; ; found = true {
		block, rest := pem.Decode(data)
		switch {
		case block == nil && !found:
			return errors.New("must contain at least one CERTIFICATE PEM block")
		case block == nil:
			return nil
		case block.Type != "CERTIFICATE":
			return fmt.Errorf("only CERTIFICATE PEM blocks are allowed, found %q", block.Type)
		case len(block.Headers) != 0:
			return errors.New("no PEM block headers are permitted")
		}
		certificates, err := x509.ParseCertificates(block.Bytes)
		if err != nil {
			return err
		}
		if len(certificates) == 0 {
			return errors.New("found CERTIFICATE PEM block containing 0 certificates")
		}
		data = rest
	}
}
