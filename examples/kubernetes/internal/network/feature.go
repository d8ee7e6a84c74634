// Package network gives services their addresses and ports: an address within the cluster, which an IPAddress holds,
// and ports of nodes. The ranges of the addresses are those of all ServiceCIDRs.
package network

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Feature gives services their addresses and ports. It has the flags of kube-apiserver.
type Feature struct {
	clusterRange string
	portRange    string
	first, last  int32
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.clusterRange, "service-cluster-ip-range", "10.0.0.0/24",
		"the range of the addresses of services, in CIDR notation")
	flags.StringVar(&f.portRange, "service-node-port-range", "30000-32767",
		"the range of the ports of nodes that services have, with both ends")
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	prefix, err := netip.ParsePrefix(f.clusterRange)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--service-cluster-ip-range: %w", err)
	}
	if prefix != prefix.Masked() {
		return server.Contribution{}, errors.New("--service-cluster-ip-range: the address has bits behind the mask")
	}
	if _, err := fmt.Sscanf(f.portRange, "%d-%d", &f.first, &f.last); err != nil || f.first < 1 || f.last < f.first ||
		f.last > 65535 {
		return server.Contribution{}, fmt.Errorf(
			"--service-node-port-range: %q is no range such as 30000-32767", f.portRange)
	}
	return server.Contribution{
		Admission: []admission.Plugin{f.plugin()},
		Hooks: []server.Hook{{Name: "start-kubernetes-service", PostStart: func(ctx context.Context) error {
			return f.publish(ctx, config)
		}, Run: repair}},
	}, nil
}

// The objects by which pods find the server.
const (
	defaultCIDR = "kubernetes"
	ownService  = "kubernetes"
	manager     = "kube-apiserver"
)

// publish creates the default range, and the service of the server itself.
func (f *Feature) publish(ctx context.Context, config *server.Config) error {
	if err := create(ctx, &networkingv1.ServiceCIDR{
		ObjectMeta: metav1.ObjectMeta{Name: defaultCIDR},
		Spec:       networkingv1.ServiceCIDRSpec{CIDRs: []string{f.clusterRange}},
	}); err != nil {
		return err
	}
	if err := create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceDefault}}); err != nil {
		return err
	}
	at, err := netip.ParseAddrPort(strings.TrimPrefix(config.URL(), "https://"))
	if err != nil {
		return err
	}
	ip := netip.MustParsePrefix(f.clusterRange).Addr().Next().String()
	labels := map[string]string{"component": "apiserver", "provider": "kubernetes"}
	return create(ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: ownService, Labels: labels},
		Spec: corev1.ServiceSpec{ClusterIP: ip, ClusterIPs: []string{ip}, Type: corev1.ServiceTypeClusterIP,
			SessionAffinity: corev1.ServiceAffinityNone, Ports: []corev1.ServicePort{{Name: "https", Port: 443,
				Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromInt32(int32(at.Port()))}}},
	})
}

// create creates an object, unless there is one of its name.
func create[T any](ctx context.Context, obj T) error {
	objects, err := reach.Of[T](ctx)
	if err != nil {
		return err
	}
	if _, err = objects.Create(ctx, obj, reach.Write{Manager: manager}); apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// Times of the repair: between two looks, and how old an address without a service must be.
const (
	repairEvery = 3 * time.Minute
	orphanAge   = time.Minute
)

// repair releases, again and again, addresses whose service is gone or was never stored.
func repair(ctx context.Context) error {
	tick := time.NewTicker(repairEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-tick.C:
			if err := releaseOrphans(ctx, now); err != nil && ctx.Err() == nil {
				return err
			}
		}
	}
}

// releaseOrphans deletes the addresses that no service has.
func releaseOrphans(ctx context.Context, now time.Time) error {
	services, err := reach.Of[*corev1.Service](ctx)
	if err != nil {
		return err
	}
	addresses, err := reach.Of[*networkingv1.IPAddress](ctx)
	if err != nil {
		return err
	}
	held, err := addresses.List(ctx, "", nil)
	if err != nil {
		return err
	}
	all, err := services.List(ctx, "", nil)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, service := range all {
		for _, ip := range service.Spec.ClusterIPs {
			used[ip] = true
		}
	}
	var errs []error
	for _, address := range held {
		if used[address.Name] || now.Sub(address.CreationTimestamp.Time) < orphanAge ||
			address.Labels[networkingv1.LabelManagedBy] != managedBy {
			continue
		}
		uid := metav1.Preconditions{UID: &address.UID}
		if err := addresses.Delete(ctx, "", address.Name, metav1.DeleteOptions{Preconditions: &uid}); err != nil &&
			!apierrors.IsNotFound(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
