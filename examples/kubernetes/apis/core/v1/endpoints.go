package v1

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_Endpoints sets the protocol of ports.
func SetDefaults_Endpoints(in *corev1.Endpoints) {
	for i := range in.Subsets {
		for j := range in.Subsets[i].Ports {
			defaults.Value(&in.Subsets[i].Ports[j].Protocol, corev1.ProtocolTCP)
		}
	}
}

// ValidateObject_Endpoints returns the errors of new endpoints.
func ValidateObject_Endpoints(_ context.Context, in *corev1.Endpoints) field.ErrorList {
	if in.ResourceVersion != "" {
		return nil
	}
	return validateSubsets(in)
}

// ValidateUpdate_Endpoints returns the errors of endpoints that change.
func ValidateUpdate_Endpoints(_ context.Context, in, old *corev1.Endpoints) field.ErrorList {
	if equality.Semantic.DeepEqual(in.Subsets, old.Subsets) {
		return nil
	}
	return validateSubsets(in)
}

func validateSubsets(in *corev1.Endpoints) rule.Errors {
	return rule.Each(in.Subsets, field.NewPath("subsets"), validateSubset)
}

func validateSubset(s *corev1.EndpointSubset, path *field.Path) rule.Errors {
	return rule.All(
		rule.When(len(s.Addresses) == 0 && len(s.NotReadyAddresses) == 0, field.Required(path,
			"must specify `addresses` or `notReadyAddresses`")),
		rule.Each(s.Addresses, path.Child("addresses"), validateEndpoint),
		rule.Each(s.NotReadyAddresses, path.Child("notReadyAddresses"), validateEndpoint),
		rule.Each(s.Ports, path.Child("ports"), func(port *corev1.EndpointPort, path *field.Path) (errs rule.Errors) {
			if port.Name == "" {
				errs = rule.When(len(s.Ports) > 1, field.Required(path.Child("name"), ""))
			} else {
				errs = rule.Label(path.Child("name"), port.Name)
			}
			errs = rule.All(errs, rule.Port(path.Child("port"), port.Port),
				pod.Protocol(path.Child("protocol"), port.Protocol))
			if port.AppProtocol == nil {
				return errs
			}
			return append(errs, rule.QualifiedName(path.Child("appProtocol"), *port.AppProtocol)...)
		}),
	)
}

func validateEndpoint(a *corev1.EndpointAddress, path *field.Path) rule.Errors {
	errs := append(rule.IP(path.Child("ip"), a.IP), rule.EndpointIP(path.Child("ip"), a.IP)...)
	if a.Hostname != "" {
		errs = append(errs, rule.Label(path.Child("hostname"), a.Hostname)...)
	}
	if a.NodeName == nil {
		return errs
	}
	return append(errs, rule.Subdomain(path.Child("nodeName"), *a.NodeName)...)
}
