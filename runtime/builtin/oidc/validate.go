package oidc

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/cel"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxIssuers bounds the number of issuers.
const maxIssuers = 64

// validate returns the faults of a configuration, under kube-apiserver's names of fields, and the rules of its issuers.
// foreign are issuers of tokens that others accept.
func validate(c *Configuration, foreign []string) ([]*rules, field.ErrorList) {
	root := field.NewPath("jwt")
	if len(c.JWT) > maxIssuers {
		return nil, field.ErrorList{field.TooMany(root, len(c.JWT), maxIssuers)}
	}
	var errs field.ErrorList
	var all []*rules
	var issuers, discoveries []string
	for i, jwt := range c.JWT {
		path := root.Index(i)
		compiled, faults := newRules(path, jwt, foreign)
		all, errs = append(all, compiled), append(errs, faults...)
		if slices.Contains(issuers, jwt.Issuer.URL) {
			errs = append(errs, field.Duplicate(path.Child("issuer", "url"), jwt.Issuer.URL))
		}
		issuers = append(issuers, jwt.Issuer.URL)
		if discovery := jwt.Issuer.discovery(); discovery != "" {
			if slices.Contains(discoveries, discovery) {
				errs = append(errs, field.Duplicate(path.Child("issuer", "discoveryURL"), discovery))
			}
			discoveries = append(discoveries, discovery)
		}
	}
	if a := c.Anonymous; a != nil && !a.Enabled && len(a.Conditions) > 0 {
		errs = append(errs, field.Invalid(field.NewPath("anonymous", "conditions"), a.Conditions,
			"enabled should be set to true when conditions are defined"))
	}
	return all, errs
}

func (i Issuer) discovery() string {
	if i.DiscoveryURL == nil {
		return ""
	}
	return *i.DiscoveryURL
}

// validateIssuer returns the faults of an issuer, and the authorities that its certificate may have; nil are those of
// the system.
func validateIssuer(path *field.Path, i Issuer, foreign []string) (*x509.CertPool, field.ErrorList) {
	var errs field.ErrorList
	if i.URL == "" {
		errs = append(errs, field.Required(path.Child("url"), ""))
	} else {
		errs = append(errs, validateURL(path.Child("url"), i.URL, foreign)...)
	}
	if discovery := i.discovery(); discovery != "" {
		if i.URL != "" && strings.TrimRight(i.URL, "/") == strings.TrimRight(discovery, "/") {
			errs = append(errs, field.Invalid(path.Child("discoveryURL"), discovery,
				"discoveryURL must be different from URL"))
		}
		errs = append(errs, validateURL(path.Child("discoveryURL"), discovery, nil)...)
	}
	errs = append(errs, validateAudiences(path, i)...)
	roots, err := authorities(i.CertificateAuthority)
	if err != nil {
		errs = append(errs, field.Invalid(path.Child("certificateAuthority"), "<omitted>", err.Error()))
	}
	if i.EgressSelectorType != "" {
		errs = append(errs, field.Invalid(path.Child("egressSelectorType"), i.EgressSelectorType,
			"this server has no egress selector: remove the field, and the server connects to the issuer directly"))
	}
	return roots, errs
}

func validateURL(path *field.Path, text string, foreign []string) field.ErrorList {
	var errs field.ErrorList
	bad := func(format string, args ...any) {
		errs = append(errs, field.Invalid(path, text, fmt.Sprintf(format, args...)))
	}
	if slices.Contains(foreign, text) {
		bad("URL must not overlap with disallowed issuers: %s", foreign)
	}
	u, err := url.Parse(text)
	if err != nil {
		bad("%s", err)
		return errs
	}
	if u.Scheme != "https" {
		bad("URL scheme must be https")
	}
	if u.User != nil {
		bad("URL must not contain a username or password")
	}
	if u.RawQuery != "" {
		bad("URL must not contain a query")
	}
	if u.Fragment != "" {
		bad("URL must not contain a fragment")
	}
	return errs
}

// matchAny is the one policy of matching audiences.
const matchAny = "MatchAny"

func validateAudiences(path *field.Path, i Issuer) field.ErrorList {
	audiences, policy := path.Child("audiences"), path.Child("audienceMatchPolicy")
	if len(i.Audiences) == 0 {
		return field.ErrorList{field.Required(audiences, fmt.Sprintf("at least one %s is required", audiences))}
	}
	var errs field.ErrorList
	for n, audience := range i.Audiences {
		if audience == "" {
			errs = append(errs, field.Required(audiences.Index(n), ""))
		}
		if slices.Contains(i.Audiences[:n], audience) {
			errs = append(errs, field.Duplicate(audiences.Index(n), audience))
		}
	}
	switch several := len(i.Audiences) > 1; {
	case several && i.AudienceMatchPolicy != matchAny:
		errs = append(errs, field.Invalid(policy, i.AudienceMatchPolicy,
			"audienceMatchPolicy must be MatchAny for multiple audiences"))
	case !several && i.AudienceMatchPolicy != "" && i.AudienceMatchPolicy != matchAny:
		errs = append(errs, field.Invalid(policy, i.AudienceMatchPolicy,
			"audienceMatchPolicy must be empty or MatchAny for single audience"))
	}
	return errs
}

// authorities reads certificates in PEM; nil stands for none, which are those of the system.
func authorities(text string) (*x509.CertPool, error) {
	if text == "" {
		return nil, nil
	}
	pool, found := x509.NewCertPool(), false
	for rest := []byte(text); len(rest) > 0; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" || len(block.Headers) > 0 {
			continue
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(certificate)
		found = true
	}
	if !found {
		return nil, errors.New("data does not contain any valid RSA or ECDSA certificates")
	}
	return pool, nil
}

// validateKey returns the faults of the key of an extra value.
func validateKey(path *field.Path, key string) field.ErrorList {
	errs := validation.IsDomainPrefixedPath(path, key)
	if key != strings.ToLower(key) {
		errs = append(errs, field.Invalid(path, key, "must be lowercase"))
	}
	domain, _, _ := strings.Cut("."+key, "/")
	if strings.HasSuffix(domain, ".k8s.io") || strings.HasSuffix(domain, ".kubernetes.io") {
		errs = append(errs, field.Invalid(path, key,
			"k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use"))
	}
	return errs
}

// environments are those of the expressions about claims and about users.
type environments struct{ claims, user *cel.Environment }

func newEnvironments() (environments, error) {
	text := &cel.Schema{Type: "string"}
	texts := &cel.Schema{Type: "array", Items: text}
	claims, err := cel.NewEnvironment("claims", "kubernetes.claims", nil)
	if err != nil {
		return environments{}, err
	}
	user, err := cel.NewEnvironment("user", "kubernetes.UserInfo", &cel.Schema{
		Type: "object", Properties: map[string]*cel.Schema{
			"username": text, "uid": text, "groups": texts, "extra": {Type: "object", Values: texts},
		}})
	return environments{claims, user}, err
}
