package network

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilrand "k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"

	v1 "example.com/kubernetes/apis/core/v1"
)

// plugin is the admission of services: it sets addresses and ports before a service is validated, and gives them back
// where the service isn't stored, or is deleted.
func (f *Feature) plugin() admission.Plugin {
	return admission.For(admission.Typed[*corev1.Service]{
		Name:       "ServiceAddresses",
		Operations: []admission.Operation{admission.Create, admission.Update, admission.Delete},
		Admit:      f.admit,
		Validate:   settle,
	})
}

func (f *Feature) admit(ctx context.Context, a *admission.Attributes, service, old *corev1.Service) error {
	if a.Operation == admission.Delete {
		return nil
	}
	service.Namespace = a.Namespace
	if service.Name == "" && service.GenerateName != "" {
		service.Name = service.GenerateName + utilrand.String(5)
	}
	normalize(service, old)
	errs := append(setFamilies(service, old), takenTwice(service)...)
	if len(errs) == 0 && !isFaulty(ctx, service) {
		more, err := f.allocate(ctx, service)
		if err != nil {
			return err
		}
		errs = more
	}
	if len(errs) > 0 {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("Service").GroupKind(), service.Name, errs)
	}
	return nil
}

// takenTwice refuses a port of a node that two ports of a service want.
func takenTwice(service *corev1.Service) (errs field.ErrorList) {
	if service.Spec.Type != corev1.ServiceTypeNodePort && service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return nil
	}
	seen := map[portKey]bool{}
	for i, port := range service.Spec.Ports {
		key := portKey{port.Protocol, port.NodePort}
		if port.NodePort != 0 && seen[key] {
			errs = append(errs, field.Invalid(field.NewPath("spec", "ports").Index(i).Child("nodePort"), port.NodePort,
				"provided port is already allocated"))
		}
		seen[key] = true
	}
	return errs
}

// isFaulty reports whether a service will be refused anyway.
func isFaulty(ctx context.Context, service *corev1.Service) bool {
	return len(v1.ValidateObject_Service(ctx, service)) > 0
}

func (f *Feature) allocate(ctx context.Context, service *corev1.Service) (field.ErrorList, error) {
	errs, err := setAddresses(ctx, service)
	if err != nil || len(errs) > 0 {
		return errs, err
	}
	return f.setPorts(ctx, service)
}

// setAddresses takes the addresses that a service has within the cluster.
func setAddresses(ctx context.Context, service *corev1.Service) (field.ErrorList, error) {
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName || slices.Contains(spec.ClusterIPs, corev1.ClusterIPNone) {
		return nil, nil
	}
	pool, err := newPool(ctx)
	if err != nil {
		return nil, err
	}
	if len(spec.ClusterIPs) == 0 {
		ip, err := pool.takeAny(ctx, service)
		if err != nil {
			return nil, apierrors.NewInternalError(fmt.Errorf("failed to allocate a serviceIP: %w", err))
		}
		spec.ClusterIPs = []string{ip.String()}
	}
	spec.ClusterIP = spec.ClusterIPs[0]
	for _, ip := range spec.ClusterIPs {
		if reach.IsDryRun(ctx) && pool.contains(ip) {
			continue // kube-apiserver takes no address in a dry run, and so doesn't see that another has it
		}
		if err := pool.takeGiven(ctx, ip, service); err != nil {
			return field.ErrorList{field.Invalid(field.NewPath("spec", "clusterIPs"), spec.ClusterIPs,
				fmt.Sprintf("failed to allocate IP %v: %v", ip, err))}, nil
		}
	}
	return nil, nil
}

// normalize lets clients that know one of clusterIP and clusterIPs set, keep and clear both.
func normalize(service, old *corev1.Service) {
	is := &service.Spec
	if old == nil {
		if is.ClusterIP != "" && len(is.ClusterIPs) == 0 {
			is.ClusterIPs = []string{is.ClusterIP}
		}
		return
	}
	was := &old.Spec
	switch {
	case is.ClusterIP == was.ClusterIP && slices.Equal(is.ClusterIPs, was.ClusterIPs):
	case is.ClusterIP != was.ClusterIP && slices.Equal(is.ClusterIPs, was.ClusterIPs):
		is.ClusterIPs = nil
		if is.ClusterIP != "" {
			is.ClusterIPs = []string{is.ClusterIP}
		}
	case is.ClusterIP == was.ClusterIP && len(is.ClusterIPs) == 0:
		is.ClusterIP = ""
	}
	keepAddresses(is, was)
}

// keepAddresses fills in what a client left out, which it can't change anyway, and clears what another type had.
func keepAddresses(is, was *corev1.ServiceSpec) {
	const named = corev1.ServiceTypeExternalName
	if is.Type == named {
		if was.Type != named && slices.Equal(is.ClusterIPs, was.ClusterIPs) {
			is.ClusterIP, is.ClusterIPs, is.IPFamilies, is.IPFamilyPolicy = "", nil, nil, nil
		}
		return
	}
	if was.Type != named && is.ClusterIP == "" && len(is.ClusterIPs) == 0 {
		is.ClusterIP, is.ClusterIPs = was.ClusterIP, slices.Clone(was.ClusterIPs)
	}
	if is.HealthCheckNodePort == 0 && is.Type == was.Type {
		is.HealthCheckNodePort = was.HealthCheckNodePort
	}
	for i := range is.Ports {
		port := &is.Ports[i]
		for _, before := range was.Ports {
			if port.NodePort == 0 && before.Port == port.Port && before.Protocol == port.Protocol &&
				is.Type != corev1.ServiceTypeClusterIP {
				port.NodePort = before.NodePort
			}
		}
		if is.Type == corev1.ServiceTypeClusterIP && was.Type != is.Type && samePorts(is.Ports, was.Ports, i) {
			port.NodePort = 0
		}
	}
}

func samePorts(is, was []corev1.ServicePort, i int) bool {
	return i < len(was) && is[i].NodePort == was[i].NodePort
}

// setFamilies sets the families of the addresses. The cluster has one.
func setFamilies(service, _ *corev1.Service) field.ErrorList {
	spec := &service.Spec
	if spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	headless := len(spec.ClusterIPs) > 0 && spec.ClusterIPs[0] == corev1.ClusterIPNone
	family := corev1.IPv4Protocol
	if len(spec.ClusterIPs) > 0 {
		if ip, err := netip.ParseAddr(spec.ClusterIPs[0]); err == nil && !ip.Is4() {
			family = corev1.IPv6Protocol
		}
	}
	if headless && len(spec.Selector) == 0 {
		if spec.IPFamilyPolicy == nil {
			spec.IPFamilyPolicy = new(corev1.IPFamilyPolicyRequireDualStack)
		}
		if len(spec.IPFamilies) == 0 {
			spec.IPFamilies = []corev1.IPFamily{family}
			if *spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack {
				spec.IPFamilies = []corev1.IPFamily{corev1.IPv4Protocol, corev1.IPv6Protocol}
			}
		}
		return nil
	}
	policy := field.NewPath("spec", "ipFamilyPolicy")
	const single = "this cluster is not configured for dual-stack services"
	if spec.IPFamilyPolicy != nil && *spec.IPFamilyPolicy == corev1.IPFamilyPolicyRequireDualStack {
		return field.ErrorList{field.Invalid(policy, spec.IPFamilyPolicy, single)}
	}
	if len(spec.IPFamilies) == 0 {
		spec.IPFamilies = []corev1.IPFamily{family}
	}
	if spec.IPFamilyPolicy == nil {
		spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
	}
	if i := slices.Index(spec.IPFamilies, corev1.IPv6Protocol); i >= 0 {
		return field.ErrorList{field.Invalid(field.NewPath("spec", "ipFamilies").Index(i), spec.IPFamilies[i],
			"not configured on this cluster")}
	}
	return nil
}

// settle gives addresses back when the outcome of a write is known.
func settle(_ context.Context, a *admission.Attributes, service, old *corev1.Service) error {
	a.OnOutcome(func(ctx context.Context, outcome admission.Outcome) {
		switch {
		case a.Operation == admission.Create && outcome == admission.Rejected:
			release(ctx, service.Spec.ClusterIPs)
		case a.Operation == admission.Delete && outcome == admission.Removed && old != nil:
			release(ctx, old.Spec.ClusterIPs)
		case a.Operation == admission.Update && outcome == admission.Written && len(service.Spec.ClusterIPs) == 0:
			release(ctx, old.Spec.ClusterIPs)
		}
	})
	return nil
}
