package v1

import (
	"fmt"
	"net/url"
	"strings"

	registrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// ValidateClientConfig wants the address of a webhook: a URL or a service.
func ValidateClientConfig(config *registrationv1.WebhookClientConfig, path *field.Path) field.ErrorList {
	switch {
	case (config.URL == nil) == (config.Service == nil):
		return field.ErrorList{field.Required(path, "exactly one of url or service is required")}
	case config.URL != nil:
		return validateURL(*config.URL, path.Child("url"))
	}
	return validateService(config.Service, path.Child("service"))
}

func validateURL(text string, path *field.Path) (errs field.ErrorList) {
	const form = "; desired format: https://host[/path]"
	u, err := url.Parse(text)
	if err != nil {
		return field.ErrorList{field.Required(path, "url must be a valid URL: "+err.Error()+form)}
	}
	if u.Scheme != "https" {
		errs = append(errs, field.Invalid(path, u.Scheme, "'https' is the only allowed URL scheme"+form))
	}
	if u.Host == "" {
		errs = append(errs, field.Invalid(path, u.Host, "host must be specified"+form))
	}
	if u.User != nil {
		errs = append(errs, field.Invalid(path, u.User.String(), "user information is not permitted in the URL"))
	}
	if u.Fragment != "" {
		errs = append(errs, field.Invalid(path, u.Fragment, "fragments are not permitted in the URL"))
	}
	if u.RawQuery != "" {
		errs = append(errs, field.Invalid(path, u.RawQuery, "query parameters are not permitted in the URL"))
	}
	return errs
}

// validateService reports a missing name at the field namespace, and a missing namespace at the field name, as
// kube-apiserver does.
func validateService(service *registrationv1.ServiceReference, path *field.Path) (errs field.ErrorList) {
	if service.Namespace == "" {
		errs = append(errs, field.Required(path.Child("name"), ""))
	}
	if service.Name == "" {
		errs = append(errs, field.Required(path.Child("namespace"), ""))
	}
	if service.Port != nil {
		if messages := validation.IsValidPortNum(int(*service.Port)); len(messages) > 0 {
			errs = append(errs, field.Invalid(path.Child("port"), *service.Port,
				"port is not valid: "+strings.Join(messages, ", ")))
		}
	}
	if service.Path != nil {
		errs = append(errs, validatePath(*service.Path, path.Child("path"))...)
	}
	return errs
}

func validatePath(text string, path *field.Path) (errs field.ErrorList) {
	if text == "" || text == "/" {
		return nil
	}
	if text == "//" {
		return field.ErrorList{field.Invalid(path, text, "segment[0] may not be empty")}
	}
	if !strings.HasPrefix(text, "/") {
		errs = append(errs, field.Invalid(path, text, "must start with a '/'"))
	}
	for i, segment := range strings.Split(strings.TrimSuffix(text[1:], "/"), "/") {
		if segment == "" {
			errs = append(errs, field.Invalid(path, text, fmt.Sprintf("segment[%d] may not be empty", i)))
			continue
		}
		for _, message := range validation.IsDNS1123Subdomain(segment) {
			errs = append(errs, field.Invalid(path, text, fmt.Sprintf("segment[%d]: %v", i, message)))
		}
	}
	return errs
}
