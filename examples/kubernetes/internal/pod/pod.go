// Package pod validates the specifications of pods, which are within pods and within the templates of many kinds. A
// file holds the rules of one part of a specification. Order and words of the errors are those of kube-apiserver.
package pod

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/rule"
)

// spec is a specification of pods while it is validated.
type spec struct {
	*corev1.PodSpec
	// meta is the metadata of the pod, nil in a template.
	meta *metav1.ObjectMeta
	path *field.Path
	// volumes are the valid volumes by name, and claims the names of the resource claims.
	volumes map[string]*corev1.VolumeSource
	claims  []string
}

// ValidateSpec validates the specification of a pod. meta is the metadata of the pod, nil in a template.
func ValidateSpec(in *corev1.PodSpec, meta *metav1.ObjectMeta, path *field.Path) rule.Errors {
	s := &spec{PodSpec: in, meta: meta, path: path}
	volumeErrs := s.validateVolumes()
	for _, claim := range in.ResourceClaims {
		s.claims = append(s.claims, claim.Name)
	}
	return rule.All(
		rule.When(in.TerminationGracePeriodSeconds == nil,
			field.Required(path.Child("terminationGracePeriodSeconds"), "")),
		volumeErrs,
		s.validateResourceClaims(),
		s.validateContainers(),
		s.validateInitContainers(),
		s.validateEphemeralContainers(),
		s.validatePodResources(),
		s.validateHostPorts(),
		rule.RequiredOneOf(path.Child("restartPolicy"), in.RestartPolicy, corev1.RestartPolicyAlways,
			corev1.RestartPolicyOnFailure, corev1.RestartPolicyNever),
		rule.RequiredOneOf(path.Child("dnsPolicy"), in.DNSPolicy, corev1.DNSClusterFirstWithHostNet,
			corev1.DNSClusterFirst, corev1.DNSDefault, corev1.DNSNone),
		metav1validation.ValidateLabels(in.NodeSelector, path.Child("nodeSelector")),
		s.validateSecurity(),
		validateAffinity(in.Affinity, path.Child("affinity")),
		s.validateDNS(),
		s.validateGates(),
		validateSpread(in.TopologySpreadConstraints, path.Child("topologySpreadConstraints")),
		s.validateHostUsers(),
		s.validateHostnameOverride(),
		s.validateNames(),
		ValidateTolerations(in.Tolerations, path.Child("tolerations")),
		s.validateHostAliases(),
		s.validateClasses(),
		s.validateOS(),
		s.validateFileKeys(),
	)
}

// ValidateTemplate validates a template of pods.
func ValidateTemplate(template *corev1.PodTemplateSpec, path *field.Path) rule.Errors {
	return rule.All(
		metav1validation.ValidateLabels(template.Labels, path.Child("labels")),
		apivalidation.ValidateAnnotations(template.Annotations, path.Child("annotations")),
		validateAnnotations(template.Annotations, &template.Spec, path.Child("annotations")),
		ValidateSpec(&template.Spec, nil, path.Child("spec")),
		rule.When(len(template.Spec.EphemeralContainers) > 0, field.Forbidden(
			path.Child("spec", "ephemeralContainers"), "ephemeral containers not allowed in pod template")),
	)
}

// ValidateRunning validates what the template of pods that run on and on can't have.
func ValidateRunning(template *corev1.PodTemplateSpec, kind string, path *field.Path) rule.Errors {
	in := path.Child("spec")
	return rule.All(
		rule.OneOf(in.Child("restartPolicy"), template.Spec.RestartPolicy, corev1.RestartPolicyAlways),
		rule.When(template.Spec.ActiveDeadlineSeconds != nil, field.Forbidden(in.Child("activeDeadlineSeconds"),
			"activeDeadlineSeconds in "+kind+" is not Supported")),
	)
}

// ValidateMetaAndSpec validates a pod, but for the metadata that every kind has.
func ValidateMetaAndSpec(pod *corev1.Pod) rule.Errors {
	path := field.NewPath("spec")
	errs := rule.All(
		validateAnnotations(pod.Annotations, &pod.Spec, field.NewPath("metadata", "annotations")),
		ValidateSpec(&pod.Spec, &pod.ObjectMeta, path),
	)
	for i, volume := range pod.Spec.Volumes {
		if pod.Spec.ServiceAccountName != "" || volume.Projected == nil {
			continue
		}
		for j, source := range volume.Projected.Sources {
			errs = append(errs, rule.When(source.ServiceAccountToken != nil, field.Forbidden(
				path.Child("volumes").Index(i).Child("projected", "sources").Index(j).Child("serviceAccountToken"),
				"must not be specified when serviceAccountName is not set"))...)
		}
	}
	for _, list := range []struct {
		name       string
		containers []corev1.Container
	}{{"containers", pod.Spec.Containers}, {"initContainers", pod.Spec.InitContainers}} {
		errs = append(errs, rule.Each(list.containers, path.Child(list.name), trimmedImage)...)
	}
	return errs
}

func trimmedImage(c *corev1.Container, path *field.Path) rule.Errors {
	return rule.When(strings.TrimSpace(c.Image) != c.Image,
		field.Invalid(path.Child("image"), c.Image, "must not have leading or trailing whitespace"))
}

// validateNames validates the names in a specification, and the deadline among them.
func (s *spec) validateNames() (errs rule.Errors) {
	errs = append(errs, optional(s.path.Child("serviceAccountName"), s.ServiceAccountName, rule.Subdomain)...)
	errs = append(errs, optional(s.path.Child("nodeName"), s.NodeName, rule.Subdomain)...)
	if deadline := s.ActiveDeadlineSeconds; deadline != nil {
		errs = append(errs, rule.Within(s.path.Child("activeDeadlineSeconds"), *deadline, 1, math.MaxInt32)...)
	}
	errs = append(errs, optional(s.path.Child("hostname"), s.Hostname, rule.Label)...)
	return append(errs, optional(s.path.Child("subdomain"), s.Subdomain, rule.Label)...)
}

// optional checks a text that may be empty.
func optional(path *field.Path, value string, check func(*field.Path, string) rule.Errors) rule.Errors {
	if value == "" {
		return nil
	}
	return check(path, value)
}

func (s *spec) validateHostAliases() rule.Errors {
	return rule.Each(s.HostAliases, s.path.Child("hostAliases"),
		func(alias *corev1.HostAlias, path *field.Path) rule.Errors {
			return append(rule.IP(path.Child("ip"), alias.IP),
				rule.Each(alias.Hostnames, path.Child("hostnames"), func(name *string, path *field.Path) rule.Errors {
					return rule.Subdomain(path, *name)
				})...)
		})
}

func (s *spec) validateClasses() rule.Errors {
	errs := optional(s.path.Child("priorityClassName"), s.PriorityClassName, rule.Subdomain)
	if s.RuntimeClassName != nil {
		errs = append(errs, rule.Subdomain(s.path.Child("runtimeClassName"), *s.RuntimeClassName)...)
	}
	if s.PreemptionPolicy != nil {
		errs = append(errs, rule.RequiredOneOf(s.path.Child("preemptionPolicy"), *s.PreemptionPolicy,
			corev1.PreemptLowerPriority, corev1.PreemptNever)...)
	}
	if s.Overhead != nil {
		overhead := &corev1.ResourceRequirements{Limits: s.Overhead}
		errs = append(errs, validateRequirements(overhead, nil, s.path.Child("overhead"))...)
	}
	return errs
}

func (s *spec) validateGates() rule.Errors {
	errs := rule.Each(s.ReadinessGates, s.path.Child("readinessGates"),
		func(gate *corev1.PodReadinessGate, path *field.Path) rule.Errors {
			return rule.QualifiedName(path.Child("conditionType"), string(gate.ConditionType))
		})
	var seen []string
	return append(errs, rule.Each(s.SchedulingGates, s.path.Child("schedulingGates"),
		func(gate *corev1.PodSchedulingGate, path *field.Path) rule.Errors {
			errs := append(rule.QualifiedName(path, gate.Name),
				rule.When(slices.Contains(seen, gate.Name), field.Duplicate(path, gate.Name))...)
			seen = append(seen, gate.Name)
			return errs
		})...)
}

// Bounds of the configuration of DNS.
const (
	maxNameservers = 3
	maxSearches    = 32
	maxSearchChars = 2048
)

func (s *spec) validateDNS() (errs rule.Errors) {
	path, dns := s.path.Child("dnsConfig"), s.DNSConfig
	if s.DNSPolicy == corev1.DNSNone {
		if dns == nil {
			return rule.Errors{field.Required(path, "must provide `dnsConfig` when `dnsPolicy` is None")}
		}
		if len(dns.Nameservers) == 0 {
			return rule.Errors{field.Required(path.Child("nameservers"),
				"must provide at least one DNS nameserver when `dnsPolicy` is None")}
		}
	}
	if dns == nil {
		return nil
	}
	servers, searches := path.Child("nameservers"), path.Child("searches")
	errs = rule.When(len(dns.Nameservers) > maxNameservers, field.Invalid(servers, dns.Nameservers,
		fmt.Sprintf("must not have more than %v nameservers", maxNameservers)))
	for i, server := range dns.Nameservers {
		errs = append(errs, rule.IP(servers.Index(i), server)...)
	}
	errs = append(errs, rule.When(len(dns.Searches) > maxSearches, field.Invalid(searches, dns.Searches,
		fmt.Sprintf("must not have more than %v search paths", maxSearches)))...)
	errs = append(errs, rule.When(len(strings.Join(dns.Searches, " ")) > maxSearchChars,
		field.Invalid(searches, dns.Searches, fmt.Sprintf(
			"must not have more than %v characters (including spaces) in the search list", maxSearchChars)))...)
	for i, search := range dns.Searches {
		if search != "." {
			search = strings.TrimSuffix(search, ".")
			errs = append(errs, rule.Texts(searches.Index(i), search,
				validation.IsDNS1123SubdomainWithUnderscore(search))...)
		}
	}
	return append(errs, rule.Each(dns.Options, path.Child("options"),
		func(option *corev1.PodDNSConfigOption, path *field.Path) rule.Errors {
			return rule.When(option.Name == "", field.Required(path, "must not be empty"))
		})...)
}

func (s *spec) validateHostUsers() (errs rule.Errors) {
	if s.HostUsers == nil || *s.HostUsers {
		return nil
	}
	const because = "when `hostUsers` is false"
	errs = append(errs, rule.When(s.HostNetwork, field.Forbidden(s.path.Child("hostNetwork"), because))...)
	errs = append(errs, rule.When(s.HostPID, field.Forbidden(s.path.Child("HostPID"), because))...)
	errs = append(errs, rule.When(s.HostIPC, field.Forbidden(s.path.Child("HostIPC"), because))...)
	s.visit(func(c *corev1.Container, path *field.Path) {
		errs = append(errs, rule.When(len(c.VolumeDevices) > 0,
			field.Forbidden(path.Child("volumeDevices"), because))...)
	})
	return errs
}

func (s *spec) validateHostnameOverride() rule.Errors {
	path := s.path.Child("hostnameOverride")
	if s.HostnameOverride == nil {
		return nil
	}
	const longest = 64
	return rule.All(
		rule.When(s.SetHostnameAsFQDN != nil && *s.SetHostnameAsFQDN,
			field.Forbidden(path, "may not be specified when setHostnameAsFQDN is true")),
		rule.When(s.HostNetwork, field.Forbidden(path, "may not be specified when hostNetwork is true")),
		rule.When(len(*s.HostnameOverride) > longest, field.TooLong(path, "", longest)),
		rule.Subdomain(path, *s.HostnameOverride),
	)
}

func (s *spec) validateOS() (errs rule.Errors) {
	if s.OS == nil {
		return nil
	}
	path := s.path.Child("os")
	if s.OS.Name == "" {
		return rule.Errors{field.Required(path.Child("name"), "")}
	}
	if errs := rule.OneOf(path, s.OS.Name, corev1.Linux, corev1.Windows); len(errs) > 0 {
		return errs
	}
	if s.OS.Name == corev1.Windows {
		return s.validateWindows()
	}
	const wrong = "windows options cannot be set for a linux pod"
	if s.SecurityContext != nil && s.SecurityContext.WindowsOptions != nil {
		errs = append(errs, field.Forbidden(s.path.Child("securityContext", "windowsOptions"), wrong))
	}
	s.visit(func(c *corev1.Container, path *field.Path) {
		if c.SecurityContext != nil && c.SecurityContext.WindowsOptions != nil {
			errs = append(errs, field.Forbidden(path.Child("securityContext", "windowsOptions"), wrong))
		}
	})
	return errs
}

// visit calls a function with all containers: init containers first, as kube-apiserver does.
func (s *spec) visit(each func(c *corev1.Container, path *field.Path)) {
	for i := range s.InitContainers {
		each(&s.InitContainers[i], s.path.Child("initContainers").Index(i))
	}
	for i := range s.Containers {
		each(&s.Containers[i], s.path.Child("containers").Index(i))
	}
	for i := range s.EphemeralContainers {
		each((*corev1.Container)(&s.EphemeralContainers[i].EphemeralContainerCommon),
			s.path.Child("ephemeralContainers").Index(i))
	}
}
