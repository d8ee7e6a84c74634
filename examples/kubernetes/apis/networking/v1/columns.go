package v1

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"example.com/kubernetes/internal/column"
)

// ClassColumn_Ingress names the class.
func ClassColumn_Ingress(ingress *networkingv1.Ingress) string {
	return column.Or(ingress.Spec.IngressClassName, column.None)
}

// HostsColumn_Ingress lists the hosts of the rules. Rules without a host count among those that aren't shown.
func HostsColumn_Ingress(ingress *networkingv1.Ingress) string {
	var hosts []string
	const most = 3
	for i, rule := range ingress.Spec.Rules {
		if rule.Host != "" && len(hosts) < most {
			hosts = append(hosts, rule.Host)
		} else if len(hosts) == most {
			return column.First(append(hosts, make([]string, len(ingress.Spec.Rules)-i)...), most, ",")
		}
	}
	if len(hosts) == 0 {
		return "*"
	}
	return strings.Join(hosts, ",")
}

// AddressColumn_Ingress lists the addresses of the load balancer.
func AddressColumn_Ingress(ingress *networkingv1.Ingress) string {
	var all []string
	for _, at := range ingress.Status.LoadBalancer.Ingress {
		switch {
		case at.IP != "":
			all = append(all, at.IP)
		case at.Hostname != "":
			all = append(all, at.Hostname)
		}
	}
	return column.Clip(column.Set(all))
}

// PortsColumn_Ingress lists the ports that clients use.
func PortsColumn_Ingress(ingress *networkingv1.Ingress) string {
	if len(ingress.Spec.TLS) > 0 {
		return "80, 443"
	}
	return "80"
}

// ParametersColumn_IngressClass names the object that configures a controller.
func ParametersColumn_IngressClass(class *networkingv1.IngressClass) string {
	p := class.Spec.Parameters
	if p == nil {
		return column.None
	}
	if p.APIGroup != nil {
		return p.Kind + "." + *p.APIGroup + "/" + p.Name
	}
	return p.Kind + "/" + p.Name
}

// ParentColumn_IPAddress names the object that has the address.
func ParentColumn_IPAddress(address *networkingv1.IPAddress) string {
	ref := address.Spec.ParentRef
	if ref == nil {
		return column.None
	}
	parts := []string{strings.ToLower(schema.GroupResource{Group: ref.Group, Resource: ref.Resource}.String())}
	if ref.Namespace != "" {
		parts = append(parts, ref.Namespace)
	}
	return strings.Join(append(parts, ref.Name), "/")
}

// SelectorColumn_NetworkPolicy shows the selector of the pods.
func SelectorColumn_NetworkPolicy(policy *networkingv1.NetworkPolicy) string {
	return metav1.FormatLabelSelector(&policy.Spec.PodSelector)
}

// CIDRsColumn_ServiceCIDR lists the ranges.
func CIDRsColumn_ServiceCIDR(cidr *networkingv1.ServiceCIDR) string {
	return strings.Join(cidr.Spec.CIDRs, ",")
}
