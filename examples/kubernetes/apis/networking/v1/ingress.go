package v1

import (
	"context"
	"net/netip"
	"strings"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// PrepareForCreate_Ingress leaves the status to the controller.
func PrepareForCreate_Ingress(_ context.Context, in *networkingv1.Ingress) {
	in.Status = networkingv1.IngressStatus{}
}

// PrepareForUpdate_Ingress keeps the status.
func PrepareForUpdate_Ingress(_ context.Context, in, old *networkingv1.Ingress) {
	in.Status = old.Status
}

// classAnnotation named the class before there was a field.
const classAnnotation = "kubernetes.io/ingress.class"

// ValidateObject_Ingress returns the errors of an ingress.
func ValidateObject_Ingress(_ context.Context, in *networkingv1.Ingress) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	errs := rule.When(len(spec.Rules) == 0 && spec.DefaultBackend == nil, field.Invalid(path, spec.Rules,
		"either `defaultBackend` or `rules` must be specified"))
	if spec.DefaultBackend != nil {
		errs = append(errs, validateBackend(spec.DefaultBackend, path.Child("defaultBackend"))...)
	}
	errs = append(errs, rule.Each(spec.Rules, path.Child("rules"), validateIngressRule)...)
	errs = append(errs, rule.Each(spec.TLS, path.Child("tls"), validateTLS)...)
	class := spec.IngressClassName
	if class != nil {
		errs = append(errs, rule.Subdomain(path.Child("ingressClassName"), *class)...)
	}
	value, annotated := in.Annotations[classAnnotation]
	return append(errs, rule.When(in.ResourceVersion == "" && annotated && class != nil && value != *class,
		field.Invalid(field.NewPath("annotations").Child(classAnnotation), value,
			"must match `ingressClassName` when both are specified"))...)
}

func isAddress(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

func hostName(path *field.Path, host string) rule.Errors {
	if strings.Contains(host, "*") {
		return rule.Texts(path, host, validation.IsWildcardDNS1123Subdomain(host))
	}
	return rule.Subdomain(path, host)
}

func validateIngressRule(r *networkingv1.IngressRule, path *field.Path) (errs rule.Errors) {
	if r.Host != "" {
		errs = rule.When(isAddress(r.Host), field.Invalid(path.Child("host"), r.Host,
			"must be a DNS name, not an IP address"))
		errs = append(errs, hostName(path.Child("host"), r.Host)...)
	}
	if r.HTTP == nil {
		return errs
	}
	paths := path.Child("http", "paths")
	errs = append(errs, rule.When(len(r.HTTP.Paths) == 0, field.Required(paths, ""))...)
	return append(errs, rule.Each(r.HTTP.Paths, paths, validatePath)...)
}

// What the path of a rule can't have, and how it can't end.
var (
	badSequences = []string{"//", "/./", "/../", "%2f", "%2F"}
	badEndings   = []string{"/..", "/."}
)

func validatePath(in *networkingv1.HTTPIngressPath, path *field.Path) (errs rule.Errors) {
	at := path.Child("path")
	relative := rule.When(!strings.HasPrefix(in.Path, "/"), field.Invalid(at, in.Path, "must be an absolute path"))
	switch {
	case in.PathType == nil:
		return rule.Errors{field.Required(path.Child("pathType"), "pathType must be specified")}
	case *in.PathType == networkingv1.PathTypeExact, *in.PathType == networkingv1.PathTypePrefix:
		errs = relative
		for _, bad := range badSequences {
			errs = append(errs, rule.When(strings.Contains(in.Path, bad), field.Invalid(at, in.Path,
				"must not contain '"+bad+"'"))...)
		}
		for _, bad := range badEndings {
			errs = append(errs, rule.When(strings.HasSuffix(in.Path, bad), field.Invalid(at, in.Path,
				"cannot end with '"+bad+"'"))...)
		}
	case *in.PathType == networkingv1.PathTypeImplementationSpecific:
		if in.Path != "" {
			errs = relative
		}
	default:
		errs = rule.OneOf(path.Child("pathType"), *in.PathType, networkingv1.PathTypeExact,
			networkingv1.PathTypeImplementationSpecific, networkingv1.PathTypePrefix)
	}
	return append(errs, validateBackend(&in.Backend, path.Child("backend"))...)
}

func validateBackend(backend *networkingv1.IngressBackend, path *field.Path) rule.Errors {
	service := path.Child("service")
	switch {
	case backend.Resource != nil && backend.Service != nil:
		return rule.Errors{field.Invalid(path, "", "cannot set both resource and service backends")}
	case backend.Resource != nil:
		return validateReference(backend.Resource, path.Child("resource"))
	case backend.Service == nil:
		return rule.Errors{field.Invalid(path, "", "resource or service backend is required")}
	}
	errs := rule.Required(service.Child("name"), backend.Service.Name)
	if backend.Service.Name != "" {
		errs = rule.Label(service.Child("name"), backend.Service.Name)
	}
	name, number := backend.Service.Port.Name, backend.Service.Port.Number
	switch {
	case name != "" && number != 0:
		return append(errs, field.Invalid(path, "", "cannot set both port name & port number"))
	case name != "":
		return append(errs, rule.Texts(service.Child("port", "name"), name, validation.IsValidPortName(name))...)
	case number != 0:
		return append(errs, rule.Port(service.Child("port", "number"), number)...)
	}
	return append(errs, field.Required(path, "port name or number is required"))
}

func validateReference(ref *corev1.TypedLocalObjectReference, path *field.Path) (errs rule.Errors) {
	if ref.APIGroup != nil {
		errs = rule.Subdomain(path.Child("apiGroup"), *ref.APIGroup)
	}
	kind, name := path.Child("kind"), path.Child("name")
	return rule.All(errs, rule.Required(kind, ref.Kind), segment(kind, ref.Kind), rule.Required(name, ref.Name),
		segment(name, ref.Name))
}

// segment wants a text that can stand between two slashes of a path, if there is one.
func segment(path *field.Path, value string) rule.Errors {
	return rule.Texts(path, value, content.IsPathSegmentName(value))
}

func validateTLS(tls *networkingv1.IngressTLS, path *field.Path) rule.Errors {
	errs := rule.Each(tls.Hosts, path.Child("hosts"), func(host *string, path *field.Path) rule.Errors {
		return hostName(path, *host)
	})
	if tls.SecretName == "" {
		return errs
	}
	return append(errs, rule.Subdomain(path.Child("secretName"), tls.SecretName)...)
}

// ValidateStatusUpdate_Ingress returns the errors of a status.
func ValidateStatusUpdate_Ingress(_ context.Context, in, old *networkingv1.Ingress) field.ErrorList {
	var known []string
	for _, at := range old.Status.LoadBalancer.Ingress {
		known = append(known, at.IP)
	}
	return rule.Each(in.Status.LoadBalancer.Ingress, field.NewPath("status", "loadBalancer", "ingress"),
		func(at *networkingv1.IngressLoadBalancerIngress, path *field.Path) (errs rule.Errors) {
			if at.IP != "" {
				errs = validation.IsValidIPForLegacyField(path.Child("ip"), at.IP, true, known)
			}
			if at.Hostname == "" {
				return errs
			}
			errs = append(errs, rule.Subdomain(path.Child("hostname"), at.Hostname)...)
			return append(errs, rule.When(isAddress(at.Hostname), field.Invalid(path.Child("hostname"), at.Hostname,
				"must be a DNS name, not an IP address"))...)
		})
}
