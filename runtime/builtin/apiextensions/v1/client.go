package v1

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/url"
	"strings"

	admissionv1 "apigen.dev/runtime/builtin/admissionregistration/v1"
	registrationv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// validateClient validates where a conversion webhook is, as that of a webhook of admission. A bundle of certificates
// must be valid once the definition is established, unless it was invalid before.
func validateClient(c *apiextensionsv1.WebhookClientConfig, path *field.Path, old *definition) field.ErrorList {
	config := &registrationv1.WebhookClientConfig{URL: c.URL}
	if c.Service != nil {
		config.Service = &registrationv1.ServiceReference{
			Namespace: c.Service.Namespace, Name: c.Service.Name, Path: c.Service.Path, Port: c.Service.Port,
		}
	}
	errs := admissionv1.ValidateClientConfig(config, path)
	if old == nil || !IsTrue(old, apiextensionsv1.Established) || bundleFault(bundleOf(old)) != nil {
		return errs
	}
	if err := bundleFault(c.CABundle); err != nil {
		errs = append(errs, field.Invalid(path.Child("caBundle"), c.CABundle,
			fmt.Sprintf("unable to load root certificates: %v", err)))
	}
	return errs
}

// BundleFault says what is wrong with the certificates of the conversion webhook of a definition.
func BundleFault(crd *definition) error { return bundleFault(bundleOf(crd)) }

func bundleOf(crd *definition) []byte {
	if c := crd.Spec.Conversion; c != nil && c.Webhook != nil && c.Webhook.ClientConfig != nil {
		return c.Webhook.ClientConfig.CABundle
	}
	return nil
}

func bundleFault(bundle []byte) error {
	if len(bundle) == 0 {
		return nil
	}
	found := false
	for {
		var block *pem.Block
		if block, bundle = pem.Decode(bundle); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			continue
		}
		if _, err := x509.ParseCertificate(block.Bytes); err != nil {
			return fmt.Errorf("unable to parse bytes as PEM block: %w", err)
		}
		found = true
	}
	if !found {
		return fmt.Errorf("unable to parse bytes as PEM block")
	}
	return nil
}

// ApprovalState says whether a definition in a group of the Kubernetes community was approved (KEP-1111).
type ApprovalState int

// The states of approval.
const (
	ApprovalInvalid ApprovalState = iota
	Approved
	ApprovalBypassed
	ApprovalMissing
)

// IsProtected reports whether a group belongs to the Kubernetes community.
func IsProtected(group string) bool {
	for _, domain := range []string{"k8s.io", "kubernetes.io"} {
		if group == domain || strings.HasSuffix(group, "."+domain) {
			return true
		}
	}
	return false
}

// Approval returns the state of approval that an annotation of a definition tells, and its reason.
func Approval(crd *definition) (ApprovalState, string) {
	const name = apiextensionsv1.KubeAPIApprovedAnnotation
	text := crd.Annotations[name]
	u, err := url.ParseRequestURI(text)
	switch {
	case text == "":
		return ApprovalMissing, fmt.Sprintf("protected groups must have approval annotation %q, see "+
			"https://github.com/kubernetes/enhancements/pull/1111", name)
	case strings.HasPrefix(text, "unapproved"):
		return ApprovalBypassed, fmt.Sprintf("not approved: %q", text)
	case err == nil && u.Host != "" && u.Scheme != "":
		return Approved, "approved in " + text
	}
	return ApprovalInvalid, fmt.Sprintf("protected groups must have approval annotation %q with either a URL or a "+
		"reason starting with \"unapproved\", see https://github.com/kubernetes/enhancements/pull/1111", name)
}

func validateApproval(crd, old *definition) field.ErrorList {
	if !IsProtected(crd.Spec.Group) {
		return nil
	}
	state, reason := Approval(crd)
	if old != nil {
		if before, _ := Approval(old); before == state {
			return nil
		}
	}
	path := field.NewPath("metadata", "annotations").Key(apiextensionsv1.KubeAPIApprovedAnnotation)
	switch state {
	case ApprovalInvalid:
		return field.ErrorList{
			field.Invalid(path, crd.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation], reason),
		}
	case ApprovalMissing:
		return field.ErrorList{field.Required(path, reason)}
	}
	return nil
}
