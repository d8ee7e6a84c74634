package v1

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_Service sets how a service is reached.
func SetDefaults_Service(in *corev1.Service) {
	spec := &in.Spec
	defaults.Value(&spec.SessionAffinity, corev1.ServiceAffinityNone)
	defaults.Value(&spec.Type, corev1.ServiceTypeClusterIP)
	setAffinity(spec)
	for i := range spec.Ports {
		port := &spec.Ports[i]
		defaults.Value(&port.Protocol, corev1.ProtocolTCP)
		if port.TargetPort == intstr.FromInt32(0) || port.TargetPort == intstr.FromString("") {
			port.TargetPort = intstr.FromInt32(port.Port)
		}
	}
	if isExternal(spec) {
		defaults.Value(&spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeExternalName && slices.Contains(serviceTypes, spec.Type) {
		defaults.Pointer(&spec.InternalTrafficPolicy, corev1.ServiceInternalTrafficPolicyCluster)
	}
	if spec.Type != corev1.ServiceTypeLoadBalancer {
		return
	}
	defaults.Pointer(&spec.AllocateLoadBalancerNodePorts, true)
	for i := range in.Status.LoadBalancer.Ingress {
		if at := &in.Status.LoadBalancer.Ingress[i]; at.IP != "" {
			defaults.Pointer(&at.IPMode, corev1.LoadBalancerIPModeVIP)
		}
	}
}

func setAffinity(spec *corev1.ServiceSpec) {
	switch config := spec.SessionAffinityConfig; {
	case spec.SessionAffinity == corev1.ServiceAffinityNone:
		spec.SessionAffinityConfig = nil
	case spec.SessionAffinity != corev1.ServiceAffinityClientIP:
	case config == nil || config.ClientIP == nil || config.ClientIP.TimeoutSeconds == nil:
		spec.SessionAffinityConfig = &corev1.SessionAffinityConfig{ClientIP: &corev1.ClientIPConfig{
			TimeoutSeconds: new(corev1.DefaultClientIPServiceAffinitySeconds)}}
	}
}

// serviceTypes are the types of services, in the order in which an error lists them.
var serviceTypes = []corev1.ServiceType{
	corev1.ServiceTypeClusterIP, corev1.ServiceTypeExternalName, corev1.ServiceTypeLoadBalancer,
	corev1.ServiceTypeNodePort,
}

// isExternal reports whether a service is reached from outside of the cluster.
func isExternal(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer || spec.Type == corev1.ServiceTypeNodePort ||
		spec.Type == corev1.ServiceTypeClusterIP && len(spec.ExternalIPs) > 0
}

// needsCheck reports whether nodes answer health checks of a load balancer.
func needsCheck(spec *corev1.ServiceSpec) bool {
	return spec.Type == corev1.ServiceTypeLoadBalancer &&
		spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
}

func isHeadless(spec *corev1.ServiceSpec) bool {
	return len(spec.ClusterIPs) == 1 && spec.ClusterIPs[0] == corev1.ClusterIPNone
}

// PrepareForCreate_Service leaves the status to the controller.
func PrepareForCreate_Service(_ context.Context, in *corev1.Service) {
	in.Status = corev1.ServiceStatus{}
}

// PrepareForUpdate_Service keeps the status, and drops what another type had.
func PrepareForUpdate_Service(_ context.Context, in, old *corev1.Service) {
	in.Status = old.Status
	is, was := &in.Spec, &old.Spec
	if was.Type == corev1.ServiceTypeLoadBalancer && is.Type != was.Type {
		if equalBool(is.AllocateLoadBalancerNodePorts, was.AllocateLoadBalancerNodePorts) {
			is.AllocateLoadBalancerNodePorts = nil
		}
		if is.LoadBalancerClass != nil && was.LoadBalancerClass != nil &&
			*is.LoadBalancerClass == *was.LoadBalancerClass {
			is.LoadBalancerClass = nil
		}
	}
	if isExternal(was) && !isExternal(is) && is.ExternalTrafficPolicy == was.ExternalTrafficPolicy {
		is.ExternalTrafficPolicy = ""
	}
	const named = corev1.ServiceTypeExternalName
	if was.Type != named && is.Type == named && is.InternalTrafficPolicy != nil && was.InternalTrafficPolicy != nil &&
		*is.InternalTrafficPolicy == *was.InternalTrafficPolicy {
		is.InternalTrafficPolicy = nil
	}
	if needsCheck(was) && !needsCheck(is) && is.HealthCheckNodePort == was.HealthCheckNodePort {
		is.HealthCheckNodePort = 0
	}
}

func equalBool(a, b *bool) bool { return a != nil && b != nil && *a == *b }

// ValidateObject_Service returns the errors of a service.
func ValidateObject_Service(_ context.Context, in *corev1.Service) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	hints, hinted := in.Annotations[corev1.DeprecatedAnnotationTopologyAwareHints]
	mode, moded := in.Annotations[corev1.AnnotationTopologyMode]
	return rule.All(
		rule.When(hinted && moded && hints != mode, field.Invalid(field.NewPath("metadata", "annotations").Key(
			corev1.AnnotationTopologyMode), mode, "must match annotations["+
			corev1.DeprecatedAnnotationTopologyAwareHints+"] when both are specified")),
		rule.When(len(spec.Ports) == 0 && !isHeadless(spec) && spec.Type != corev1.ServiceTypeExternalName,
			field.Required(path.Child("ports"), "")),
		validateServiceType(spec, path),
		validateServicePorts(spec, path.Child("ports")),
		metav1validation.ValidateLabels(spec.Selector, path.Child("selector")),
		validateSessions(spec, path),
		validateAddresses(spec, path),
		rule.Each(spec.ExternalIPs, path.Child("externalIPs"), func(ip *string, path *field.Path) rule.Errors {
			if errs := rule.IP(path, *ip); len(errs) > 0 {
				return errs
			}
			return rule.EndpointIP(path, *ip)
		}),
		rule.RequiredOneOf(path.Child("type"), spec.Type, serviceTypes...),
		validatePortNumbers(spec, path.Child("ports")),
		validateRanges(in, path),
		validateBalancing(spec, path),
		validateTraffic(spec, path),
	)
}

func validateServiceType(spec *corev1.ServiceSpec, path *field.Path) (errs rule.Errors) {
	first := path.Child("clusterIPs").Index(0)
	switch spec.Type {
	case corev1.ServiceTypeLoadBalancer, corev1.ServiceTypeNodePort:
		return rule.When(isHeadless(spec), field.Invalid(first, corev1.ClusterIPNone,
			"may not be set to 'None' for "+string(spec.Type)+" services"))
	case corev1.ServiceTypeExternalName:
	default:
		return nil
	}
	const wrong = "may not be set for ExternalName services"
	errs = rule.All(
		rule.When(len(spec.ClusterIPs) > 0, field.Forbidden(path.Child("clusterIPs"), wrong)),
		rule.When(len(spec.IPFamilies) > 0, field.Forbidden(path.Child("ipFamilies"), wrong)),
		rule.When(spec.IPFamilyPolicy != nil, field.Forbidden(path.Child("ipFamilyPolicy"), wrong)),
	)
	name := strings.TrimSuffix(spec.ExternalName, ".")
	if name == "" {
		return append(errs, field.Required(path.Child("externalName"), ""))
	}
	return append(errs, rule.Subdomain(path.Child("externalName"), name)...)
}

func validateServicePorts(spec *corev1.ServiceSpec, path *field.Path) rule.Errors {
	var names []string
	return rule.Each(spec.Ports, path, func(port *corev1.ServicePort, path *field.Path) (errs rule.Errors) {
		if port.Name == "" {
			errs = rule.When(len(spec.Ports) > 1, field.Required(path.Child("name"), ""))
		} else {
			errs = rule.Label(path.Child("name"), port.Name)
			errs = append(errs, rule.When(slices.Contains(names, port.Name), field.Duplicate(path.Child("name"),
				port.Name))...)
			names = append(names, port.Name)
		}
		errs = rule.All(errs, rule.Port(path.Child("port"), port.Port),
			pod.Protocol(path.Child("protocol"), port.Protocol),
			rule.PortOrName(path.Child("targetPort"), port.TargetPort))
		if port.AppProtocol == nil {
			return errs
		}
		return append(errs, rule.QualifiedName(path.Child("appProtocol"), *port.AppProtocol)...)
	})
}

func validateSessions(spec *corev1.ServiceSpec, path *field.Path) rule.Errors {
	at := path.Child("sessionAffinityConfig")
	errs := rule.RequiredOneOf(path.Child("sessionAffinity"), spec.SessionAffinity, corev1.ServiceAffinityClientIP,
		corev1.ServiceAffinityNone)
	if spec.SessionAffinity != corev1.ServiceAffinityClientIP || spec.SessionAffinityConfig == nil {
		return errs
	}
	const most = 86400
	seconds := spec.SessionAffinityConfig.ClientIP.TimeoutSeconds
	return append(errs, rule.When(*seconds <= 0 || *seconds > most, field.Invalid(
		at.Child("clientIP", "timeoutSeconds"), seconds, "must be greater than 0 and less than 86400"))...)
}

// validatePortNumbers refuses ports of nodes that a service can't have, and ports that it has twice.
func validatePortNumbers(spec *corev1.ServiceSpec, path *field.Path) (errs rule.Errors) {
	type key struct {
		protocol corev1.Protocol
		number   int32
	}
	ports, nodes := map[key]bool{}, map[key]bool{}
	var twice rule.Errors
	for i, port := range spec.Ports {
		at := path.Index(i).Child("nodePort")
		errs = append(errs, rule.When(spec.Type == corev1.ServiceTypeClusterIP && port.NodePort != 0,
			field.Forbidden(at, "may not be used when `type` is 'ClusterIP'"))...)
		if of := (key{port.Protocol, port.NodePort}); port.NodePort != 0 {
			twice = append(twice, rule.When(nodes[of], field.Duplicate(at, port.NodePort))...)
			nodes[of] = true
		}
	}
	errs = append(errs, twice...)
	for i, port := range spec.Ports {
		of := key{port.Protocol, port.Port}
		shown := corev1.ServicePort{Protocol: port.Protocol, Port: port.Port}
		errs = append(errs, rule.When(ports[of], field.Duplicate(path.Index(i), shown))...)
		ports[of] = true
	}
	return errs
}

// validateRanges validates from where a load balancer can be used.
func validateRanges(in *corev1.Service, path *field.Path) (errs rule.Errors) {
	at := path.Child("LoadBalancerSourceRanges")
	const wrong = "may only be used when `type` is 'LoadBalancer'"
	elsewhere := in.Spec.Type != corev1.ServiceTypeLoadBalancer
	if len(in.Spec.LoadBalancerSourceRanges) > 0 {
		errs = rule.When(elsewhere, field.Forbidden(at, wrong))
		return append(errs, rule.Each(in.Spec.LoadBalancerSourceRanges, at,
			func(cidr *string, path *field.Path) rule.Errors {
				return validation.IsValidCIDRForLegacyField(path, strings.TrimSpace(*cidr), true, nil)
			})...)
	}
	value, annotated := in.Annotations[corev1.AnnotationLoadBalancerSourceRangesKey]
	if !annotated {
		return nil
	}
	at = field.NewPath("metadata", "annotations").Key(corev1.AnnotationLoadBalancerSourceRangesKey)
	errs = rule.When(elsewhere, field.Forbidden(at, wrong))
	for cidr := range strings.SplitSeq(strings.TrimSpace(value), ",") {
		if value != "" {
			errs = append(errs, validation.IsValidCIDRForLegacyField(at, strings.TrimSpace(cidr), true, nil)...)
		}
	}
	return errs
}

func validateBalancing(spec *corev1.ServiceSpec, path *field.Path) rule.Errors {
	balanced := spec.Type == corev1.ServiceTypeLoadBalancer
	const wrong = "may only be used when `type` is 'LoadBalancer'"
	errs := rule.When(spec.AllocateLoadBalancerNodePorts != nil && !balanced, field.Forbidden(
		path.Child("allocateLoadBalancerNodePorts"), wrong))
	class, at := spec.LoadBalancerClass, path.Child("loadBalancerClass")
	switch {
	case class == nil:
		return errs
	case !balanced:
		return append(errs, field.Forbidden(at, wrong))
	}
	return append(errs, rule.QualifiedName(at, *class)...)
}

func validateTraffic(spec *corev1.ServiceSpec, path *field.Path) (errs rule.Errors) {
	external, check := path.Child("externalTrafficPolicy"), path.Child("healthCheckNodePort")
	if isExternal(spec) {
		errs = rule.RequiredOneOf(external, spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster,
			corev1.ServiceExternalTrafficPolicyLocal)
	} else {
		errs = rule.When(spec.ExternalTrafficPolicy != "", field.Invalid(external, spec.ExternalTrafficPolicy,
			"may only be set for externally-accessible services"))
	}
	errs = append(errs, rule.When(!needsCheck(spec) && spec.HealthCheckNodePort != 0, field.Invalid(check,
		spec.HealthCheckNodePort,
		"may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'"))...)
	errs = append(errs, rule.OptionalOneOf(path.Child("internalTrafficPolicy"), spec.InternalTrafficPolicy,
		corev1.ServiceInternalTrafficPolicyCluster, corev1.ServiceInternalTrafficPolicyLocal)...)
	return append(errs, rule.OptionalOneOf(path.Child("trafficDistribution"), spec.TrafficDistribution,
		corev1.ServiceTrafficDistributionPreferClose, corev1.ServiceTrafficDistributionPreferSameZone,
		corev1.ServiceTrafficDistributionPreferSameNode)...)
}

// validateAddresses validates the addresses within the cluster.
func validateAddresses(spec *corev1.ServiceSpec, path *field.Path) (errs rule.Errors) {
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	at, ips := path.Child("clusterIPs"), spec.ClusterIPs
	switch {
	case spec.ClusterIP != "" && len(ips) == 0:
		errs = rule.Errors{field.Required(at, "")}
	case spec.ClusterIP != "" && ips[0] != spec.ClusterIP:
		errs = rule.Errors{field.Invalid(at, ips, "first value must match `clusterIP`")}
	case spec.ClusterIP == "" && len(ips) > 0:
		errs = rule.Errors{field.Invalid(at, ips, "must be empty when `clusterIP` is not specified")}
	}
	for i, family := range spec.IPFamilies {
		of := path.Child("ipFamilies").Index(i)
		errs = append(errs, rule.OneOf(of, family, corev1.IPv4Protocol, corev1.IPv6Protocol)...)
		errs = append(errs, rule.When(slices.Contains(spec.IPFamilies[:i], family), field.Duplicate(of, family))...)
	}
	errs = append(errs, rule.OptionalOneOf(path.Child("ipFamilyPolicy"), spec.IPFamilyPolicy,
		corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack,
		corev1.IPFamilyPolicySingleStack)...)
	invalid := false
	for i, ip := range ips {
		var of rule.Errors
		if i == 0 && ip == corev1.ClusterIPNone {
			of = rule.When(len(ips) > 1, field.Invalid(at, ips, "'None' must be the first and only value"))
		} else {
			of = rule.IP(at.Index(i), ip)
		}
		invalid = invalid || len(of) > 0
		errs = append(errs, of...)
	}
	errs = append(errs, rule.When(len(ips) > 2, field.Invalid(at, ips, "may only hold up to 2 values"))...)
	if invalid || isHeadless(spec) {
		return errs
	}
	return append(errs, validateFamilies(spec, at)...)
}

func validateFamilies(spec *corev1.ServiceSpec, path *field.Path) (errs rule.Errors) {
	var families []corev1.IPFamily
	for _, text := range spec.ClusterIPs {
		family := corev1.IPv6Protocol
		if ip, err := netip.ParseAddr(text); err == nil && ip.Is4() {
			family = corev1.IPv4Protocol
		}
		families = append(families, family)
	}
	errs = rule.When(len(families) > 1 && families[0] == families[1], field.Invalid(path, spec.ClusterIPs,
		"may specify no more than one IP for each IP family"))
	for i, family := range families {
		errs = append(errs, rule.When(i < len(spec.IPFamilies) && spec.IPFamilies[i] != family, field.Invalid(
			path.Index(i), spec.ClusterIPs[i], fmt.Sprintf("expected an %s value as indicated by `ipFamilies[%d]`",
				other(family), i)))...)
	}
	return errs
}

func other(family corev1.IPFamily) corev1.IPFamily {
	if family == corev1.IPv4Protocol {
		return corev1.IPv6Protocol
	}
	return corev1.IPv4Protocol
}

// ValidateUpdate_Service holds addresses and ports that others know.
func ValidateUpdate_Service(_ context.Context, in, old *corev1.Service) (errs field.ErrorList) {
	is, was, path := &in.Spec, &old.Spec, field.NewPath("spec")
	const named = corev1.ServiceTypeExternalName
	if is.Type != named && was.Type != named && len(was.ClusterIPs) > 0 && len(is.ClusterIPs) > 0 {
		errs = rule.When(is.ClusterIPs[0] != was.ClusterIPs[0], field.Invalid(path.Child("clusterIPs").Index(0),
			is.ClusterIPs, "may not change once set"))
	}
	if is.Type != named && was.Type != named && len(was.IPFamilies) > 0 && len(is.IPFamilies) > 0 {
		errs = append(errs, rule.When(is.IPFamilies[0] != was.IPFamilies[0], field.Invalid(
			path.Child("ipFamilies").Index(0), is.IPFamilies, "may not change once set"))...)
	}
	if is.Type == was.Type && is.Type == corev1.ServiceTypeLoadBalancer {
		errs = append(errs, rule.Immutable(path.Child("loadBalancerClass"), is.LoadBalancerClass,
			was.LoadBalancerClass)...)
	}
	checked := needsCheck(is) && needsCheck(was)
	return append(errs, rule.When(checked && is.HealthCheckNodePort != was.HealthCheckNodePort,
		field.Forbidden(path.Child("healthCheckNodePort"), "field is immutable"))...)
}
