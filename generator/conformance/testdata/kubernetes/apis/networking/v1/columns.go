package v1

import (
	"strings"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// HostsColumn_Ingress lists the hosts of the rules.
func HostsColumn_Ingress(in *networkingv1.Ingress) string {
	var hosts []string
	for _, rule := range in.Spec.Rules {
		if rule.Host != "" {
			hosts = append(hosts, rule.Host)
		}
	}
	if len(hosts) == 0 {
		return "*"
	}
	return strings.Join(hosts, ",")
}

// ParentColumn_IPAddress names the object that has the address.
func ParentColumn_IPAddress(in *networkingv1.IPAddress) string {
	ref := in.Spec.ParentRef
	if ref == nil {
		return "<none>"
	}
	return strings.Trim(ref.Resource+"."+ref.Group, ".") + "/" + strings.Trim(ref.Namespace+"/"+ref.Name, "/")
}

// SelectorColumn_NetworkPolicy shows the selector of the pods.
func SelectorColumn_NetworkPolicy(in *networkingv1.NetworkPolicy) string {
	return metav1.FormatLabelSelector(&in.Spec.PodSelector)
}

// CIDRsColumn_ServiceCIDR lists the ranges.
func CIDRsColumn_ServiceCIDR(in *networkingv1.ServiceCIDR) string {
	return strings.Join(in.Spec.CIDRs, ",")
}

// SetDefaults_NetworkPolicy sets the types of the policy by its rules.
func SetDefaults_NetworkPolicy(in *networkingv1.NetworkPolicy) {
	if len(in.Spec.PolicyTypes) == 0 {
		in.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(in.Spec.Egress) > 0 {
			in.Spec.PolicyTypes = append(in.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
}
