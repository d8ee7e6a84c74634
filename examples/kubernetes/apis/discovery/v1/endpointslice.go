package v1

import (
	"context"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_EndpointPort names the port of a slice.
func SetDefaults_EndpointPort(in *discoveryv1.EndpointPort) {
	defaults.Pointer(&in.Name, "")
	defaults.Pointer(&in.Protocol, corev1.ProtocolTCP)
}

// PrepareForCreate_EndpointSlice starts the count of changes.
func PrepareForCreate_EndpointSlice(_ context.Context, in *discoveryv1.EndpointSlice) {
	in.Generation = 1
}

// PrepareForUpdate_EndpointSlice counts changes, which are all but those of the metadata that nobody depends on.
func PrepareForUpdate_EndpointSlice(_ context.Context, in, old *discoveryv1.EndpointSlice) {
	changed := !equality.Semantic.DeepEqual(in.Endpoints, old.Endpoints) ||
		!equality.Semantic.DeepEqual(in.Ports, old.Ports) || in.AddressType != old.AddressType ||
		!equality.Semantic.DeepEqual(in.Labels, old.Labels)
	if changed {
		in.Generation = old.Generation + 1
	}
}

// Bounds of slices, beside those of the type's own tags.
const (
	maxEndpoints = 1000
	maxPorts     = 20000
	maxTopology  = 16
	maxHints     = 8
)

// ValidateObject_EndpointSlice returns the errors of a slice, but for those of endpoints that may have been stored.
func ValidateObject_EndpointSlice(_ context.Context, in *discoveryv1.EndpointSlice) field.ErrorList {
	ports := field.NewPath("ports")
	var names []string
	errs := rule.All(
		rule.When(len(in.Ports) > maxPorts, field.TooMany(ports, len(in.Ports), maxPorts)),
		rule.Each(in.Ports, ports, func(port *discoveryv1.EndpointPort, path *field.Path) (errs rule.Errors) {
			if *port.Name != "" {
				errs = rule.Label(path.Child("name"), *port.Name)
			}
			errs = append(errs, rule.When(slices.Contains(names, *port.Name), field.Duplicate(path.Child("name"),
				port.Name))...)
			names = append(names, *port.Name)
			errs = append(errs, pod.Protocol(path.Child("protocol"), *port.Protocol)...)
			if port.AppProtocol == nil {
				return errs
			}
			return append(errs, rule.QualifiedName(path.Child("appProtocol"), *port.AppProtocol)...)
		}),
	)
	if in.ResourceVersion != "" {
		return errs
	}
	return append(errs, validateEndpoints(in)...)
}

// ValidateUpdate_EndpointSlice returns the errors of endpoints that changed.
func ValidateUpdate_EndpointSlice(_ context.Context, in, old *discoveryv1.EndpointSlice) field.ErrorList {
	if equality.Semantic.DeepEqual(in.Endpoints, old.Endpoints) {
		return nil
	}
	return validateEndpoints(in)
}

func validateEndpoints(in *discoveryv1.EndpointSlice) rule.Errors {
	path := field.NewPath("endpoints")
	return append(rule.When(len(in.Endpoints) > maxEndpoints, field.TooMany(path, len(in.Endpoints), maxEndpoints)),
		rule.Each(in.Endpoints, path, func(e *discoveryv1.Endpoint, path *field.Path) rule.Errors {
			return validateEndpoint(e, in.AddressType, path)
		})...)
}

func validateEndpoint(e *discoveryv1.Endpoint, of discoveryv1.AddressType, path *field.Path) rule.Errors {
	addresses := path.Child("addresses")
	errs := rule.Each(e.Addresses, addresses, func(address *string, path *field.Path) rule.Errors {
		return validateAddress(*address, of, path, addresses)
	})
	if e.NodeName != nil {
		errs = append(errs, rule.Subdomain(path.Child("nodeName"), *e.NodeName)...)
	}
	topology := path.Child("deprecatedTopology")
	errs = append(errs, rule.When(len(e.DeprecatedTopology) > maxTopology, field.TooMany(topology,
		len(e.DeprecatedTopology), maxTopology))...)
	errs = append(errs, metav1validation.ValidateLabels(e.DeprecatedTopology, topology)...)
	if e.Hostname != nil {
		errs = append(errs, rule.Label(path.Child("hostname"), *e.Hostname)...)
	}
	if e.Hints == nil {
		return errs
	}
	var zones []string
	at := path.Child("hints", "forZones")
	errs = append(errs, rule.When(len(e.Hints.ForZones) > maxHints, field.TooMany(at, len(e.Hints.ForZones),
		maxHints))...)
	return append(errs, rule.Each(e.Hints.ForZones, at, func(zone *discoveryv1.ForZone, path *field.Path) rule.Errors {
		twice := slices.Contains(zones, zone.Name)
		zones = append(zones, zone.Name)
		return append(rule.When(twice, field.Duplicate(path.Child("name"), zone.Name)),
			rule.Texts(path.Child("name"), zone.Name, validation.IsValidLabelValue(zone.Name))...)
	})...)
}

func validateAddress(address string, of discoveryv1.AddressType, path, all *field.Path) rule.Errors {
	var errs rule.Errors
	switch of {
	case discoveryv1.AddressTypeFQDN:
		return validation.IsFullyQualifiedDomainName(path, address)
	case discoveryv1.AddressTypeIPv4:
		errs = rule.IP(path, address)
	case discoveryv1.AddressTypeIPv6:
		errs = validation.IsValidIP(path, address)
	default:
		return nil
	}
	ip, err := netip.ParseAddr(address)
	if len(errs) > 0 || err != nil {
		return errs
	}
	if ip.Is4() != (of == discoveryv1.AddressTypeIPv4) {
		errs = append(errs, field.Invalid(all, address, "must be an "+string(of)+" address"))
	}
	return append(errs, rule.EndpointIP(path, address)...)
}
