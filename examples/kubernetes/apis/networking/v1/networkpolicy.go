package v1

import (
	"context"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"example.com/kubernetes/internal/defaults"
	"example.com/kubernetes/internal/pod"
	"example.com/kubernetes/internal/rule"
)

// SetDefaults_NetworkPolicy sets the types of the policy by its rules.
func SetDefaults_NetworkPolicy(in *networkingv1.NetworkPolicy) {
	if len(in.Spec.PolicyTypes) == 0 {
		in.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(in.Spec.Egress) > 0 {
			in.Spec.PolicyTypes = append(in.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
}

// SetDefaults_NetworkPolicyPort sets the protocol.
func SetDefaults_NetworkPolicyPort(in *networkingv1.NetworkPolicyPort) {
	defaults.Pointer(&in.Protocol, corev1.ProtocolTCP)
}

// ValidateObject_NetworkPolicy returns the errors of a policy.
func ValidateObject_NetworkPolicy(_ context.Context, in *networkingv1.NetworkPolicy) field.ErrorList {
	spec, path := &in.Spec, field.NewPath("spec")
	types := path.Child("policyTypes")
	return rule.All(
		pod.ValidateSelector(&spec.PodSelector, path.Child("podSelector")),
		rule.Each(spec.Ingress, path.Child("ingress"),
			func(r *networkingv1.NetworkPolicyIngressRule, path *field.Path) rule.Errors {
				return append(rule.Each(r.Ports, path.Child("ports"), validatePolicyPort),
					rule.Each(r.From, path.Child("from"), validatePeer)...)
			}),
		rule.Each(spec.Egress, path.Child("egress"),
			func(r *networkingv1.NetworkPolicyEgressRule, path *field.Path) rule.Errors {
				return append(rule.Each(r.Ports, path.Child("ports"), validatePolicyPort),
					rule.Each(r.To, path.Child("to"), validatePeer)...)
			}),
		rule.When(len(spec.PolicyTypes) > 2, field.Invalid(types, &spec.PolicyTypes,
			"may not specify more than two policyTypes")),
		rule.Each(spec.PolicyTypes, types, func(of *networkingv1.PolicyType, path *field.Path) rule.Errors {
			if len(spec.PolicyTypes) > 2 {
				return nil
			}
			return rule.OneOf(path, *of, networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress)
		}),
	)
}

func validatePolicyPort(port *networkingv1.NetworkPolicyPort, path *field.Path) rule.Errors {
	errs := rule.OptionalOneOf(path.Child("protocol"), port.Protocol, corev1.ProtocolTCP, corev1.ProtocolUDP,
		corev1.ProtocolSCTP)
	end, at := port.EndPort, path.Child("endPort")
	misplaced := func(message string) rule.Errors {
		if end == nil {
			return nil
		}
		return rule.Errors{field.Invalid(at, *end, message)}
	}
	switch {
	case port.Port == nil:
		return append(errs, misplaced("may not be specified when `port` is not specified")...)
	case port.Port.Type == intstr.String:
		errs = append(errs, misplaced("may not be specified when `port` is non-numeric")...)
		return append(errs, rule.Texts(path.Child("port"), port.Port.StrVal,
			validation.IsValidPortName(port.Port.StrVal))...)
	}
	errs = append(errs, rule.Port(path.Child("port"), port.Port.IntVal)...)
	if end == nil {
		return errs
	}
	errs = append(errs, rule.When(*end < port.Port.IntVal, field.Invalid(at, *end,
		"must be greater than or equal to `port`"))...)
	return append(errs, rule.Port(at, *end)...)
}

func validatePeer(peer *networkingv1.NetworkPolicyPeer, path *field.Path) (errs rule.Errors) {
	selects := peer.PodSelector != nil || peer.NamespaceSelector != nil
	if peer.PodSelector != nil {
		errs = append(errs, pod.ValidateSelector(peer.PodSelector, path.Child("podSelector"))...)
	}
	if peer.NamespaceSelector != nil {
		errs = append(errs, pod.ValidateSelector(peer.NamespaceSelector, path.Child("namespaceSelector"))...)
	}
	if peer.IPBlock != nil {
		errs = append(errs, validateBlock(peer.IPBlock, path.Child("ipBlock"))...)
	}
	errs = append(errs, rule.When(!selects && peer.IPBlock == nil, field.Required(path, "must specify a peer"))...)
	return append(errs, rule.When(selects && peer.IPBlock != nil, field.Forbidden(path,
		"may not specify both ipBlock and another peer"))...)
}

func validateBlock(block *networkingv1.IPBlock, path *field.Path) rule.Errors {
	if block.CIDR == "" {
		return nil // the type's own tags report that there is none
	}
	errs := validation.IsValidCIDRForLegacyField(path.Child("cidr"), block.CIDR, true, nil)
	all, err := netip.ParsePrefix(block.CIDR)
	if err != nil {
		return errs
	}
	return append(errs, rule.Each(block.Except, path.Child("except"), func(text *string, path *field.Path) rule.Errors {
		errs := validation.IsValidCIDRForLegacyField(path, *text, true, nil)
		except, err := netip.ParsePrefix(*text)
		if err != nil {
			return errs
		}
		return append(errs, rule.When(!all.Contains(except.Addr()) || all.Bits() >= except.Bits(),
			field.Invalid(path, *text, "must be a strict subset of `cidr`"))...)
	})...)
}
