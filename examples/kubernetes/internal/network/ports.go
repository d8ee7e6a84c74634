package network

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"apigen.dev/runtime/reach"
)

// portKey is a port of a node, which TCP and UDP can have at once.
type portKey struct {
	protocol corev1.Protocol
	port     int32
}

// usedPorts returns the ports that all other services have. Ports that several services have at once are a race of two
// servers, which nobody resolves.
func usedPorts(ctx context.Context, besides *corev1.Service) (map[portKey]bool, error) {
	services, err := reach.Of[*corev1.Service](ctx)
	if err != nil {
		return nil, err
	}
	all, err := services.List(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	used := map[portKey]bool{}
	for _, service := range all {
		if service.Namespace == besides.Namespace && service.Name == besides.Name {
			continue
		}
		for _, port := range service.Spec.Ports {
			used[portKey{port.Protocol, port.NodePort}] = true
		}
		if check := service.Spec.HealthCheckNodePort; check != 0 {
			used[portKey{corev1.ProtocolTCP, check}] = true
		}
	}
	return used, nil
}

// setPorts gives a service the ports of nodes that it needs, and refuses those that another one has.
func (f *Feature) setPorts(ctx context.Context, service *corev1.Service) (errs field.ErrorList, err error) {
	spec := &service.Spec
	balanced := spec.Type == corev1.ServiceTypeLoadBalancer
	wanted := spec.Type == corev1.ServiceTypeNodePort ||
		balanced && (spec.AllocateLoadBalancerNodePorts == nil || *spec.AllocateLoadBalancerNodePorts)
	checked := balanced && spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal
	if !wanted && !checked && !balanced {
		return nil, nil
	}
	used, err := usedPorts(ctx, service)
	if err != nil {
		return nil, err
	}
	for i := range spec.Ports {
		port, path := &spec.Ports[i], field.NewPath("spec", "ports").Index(i).Child("nodePort")
		if port.NodePort != 0 || wanted {
			errs = append(errs, f.takePort(used, port.Protocol, &port.NodePort, path, reach.IsDryRun(ctx))...)
		}
	}
	if checked {
		errs = append(errs, f.takePort(used, corev1.ProtocolTCP, &spec.HealthCheckNodePort,
			field.NewPath("spec", "healthCheckNodePort"), reach.IsDryRun(ctx))...)
	}
	return errs, nil
}

func (f *Feature) takePort(
	used map[portKey]bool, protocol corev1.Protocol, port *int32, path *field.Path, dryRun bool,
) field.ErrorList {
	if given := *port; given != 0 {
		switch {
		case dryRun: // kube-apiserver takes no port in a dry run, and so doesn't see that it can't
			return nil
		case given < f.first || given > f.last:
			return field.ErrorList{field.Invalid(path, given, fmt.Sprintf(
				"provided port is not in the valid range. The range of valid ports is %d-%d", f.first, f.last))}
		case used[portKey{protocol, given}]:
			return field.ErrorList{field.Invalid(path, given, "provided port is already allocated")}
		}
		used[portKey{protocol, given}] = true
		return nil
	}
	size := f.last - f.first + 1
	start := rand.Int32N(size) //nolint:gosec // ports are no secret
	for i := range size {
		at := f.first + (start+i)%size
		if of := (portKey{protocol, at}); !used[of] {
			used[of], *port = true, at
			return nil
		}
	}
	return field.ErrorList{field.InternalError(path, fmt.Errorf("failed to allocate a nodePort: range is full"))}
}
