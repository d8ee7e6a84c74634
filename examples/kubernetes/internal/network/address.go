package network

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"apigen.dev/runtime/reach"
)

// managedBy is the label of the addresses that services have.
const managedBy = "ipallocator.k8s.io"

// pool is where addresses come from: the ranges that are in force.
type pool struct {
	addresses reach.Objects[*networkingv1.IPAddress]
	ranges    []netip.Prefix
}

func newPool(ctx context.Context) (*pool, error) {
	cidrs, err := reach.Of[*networkingv1.ServiceCIDR](ctx)
	if err != nil {
		return nil, err
	}
	addresses, err := reach.Of[*networkingv1.IPAddress](ctx)
	if err != nil {
		return nil, err
	}
	all, err := cidrs.List(ctx, "", nil)
	if err != nil {
		return nil, err
	}
	p := &pool{addresses: addresses}
	for _, cidr := range all {
		for _, text := range cidr.Spec.CIDRs {
			if prefix, err := netip.ParsePrefix(text); err == nil && cidr.DeletionTimestamp == nil {
				p.ranges = append(p.ranges, prefix)
			}
		}
	}
	return p, nil
}

// take takes an address for a service. In a dry run nothing is stored.
func (p *pool) take(ctx context.Context, ip netip.Addr, service *corev1.Service) error {
	family := "IPv6"
	if ip.Is4() {
		family = "IPv4"
	}
	_, err := p.addresses.Create(ctx, &networkingv1.IPAddress{
		ObjectMeta: metav1.ObjectMeta{Name: ip.String(), Labels: map[string]string{
			networkingv1.LabelIPAddressFamily: family, networkingv1.LabelManagedBy: managedBy}},
		Spec: networkingv1.IPAddressSpec{ParentRef: &networkingv1.ParentReference{
			Resource: "services", Namespace: service.Namespace, Name: service.Name}},
	}, reach.Write{Manager: manager})
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	holder, getErr := p.addresses.Get(ctx, "", ip.String())
	if ref := parentOf(holder); getErr == nil && ref.Namespace == service.Namespace && ref.Name == service.Name {
		return nil // an earlier attempt to create the service took it
	}
	return errTaken
}

func parentOf(address *networkingv1.IPAddress) networkingv1.ParentReference {
	if address == nil || address.Spec.ParentRef == nil {
		return networkingv1.ParentReference{}
	}
	return *address.Spec.ParentRef
}

var errTaken = fmt.Errorf("provided IP is already allocated")

// attempts is how many addresses are tried at random before all are looked at.
const attempts = 16

// takeAny takes a free address of the first range that has one.
func (p *pool) takeAny(ctx context.Context, service *corev1.Service) (netip.Addr, error) {
	for _, prefix := range p.ranges {
		size := 1 << min(prefix.Addr().BitLen()-prefix.Bits(), 16)
		start := rand.IntN(size) //nolint:gosec // addresses are no secret
		for i := range size {
			step := start + i
			if i < attempts {
				step = rand.IntN(size) //nolint:gosec // addresses are no secret
			}
			ip, usable := nth(prefix, step%size, size)
			if !usable {
				continue
			}
			switch err := p.take(ctx, ip, service); err {
			case nil:
				return ip, nil
			case errTaken:
			default:
				return netip.Addr{}, err
			}
		}
	}
	return netip.Addr{}, fmt.Errorf("range is full")
}

// nth returns an address of a range. The first one is the network's, and the last one of IPv4 goes to all.
func nth(prefix netip.Prefix, n, size int) (ip netip.Addr, usable bool) {
	bytes := prefix.Addr().AsSlice()
	for at := len(bytes) - 1; n > 0 && at >= 0; at-- {
		sum := int(bytes[at]) + n
		bytes[at], n = byte(sum), sum>>8
	}
	ip, ok := netip.AddrFromSlice(bytes)
	first, last := ip == prefix.Addr(), ip == lastOf(prefix, size)
	return ip, ok && prefix.Contains(ip) && !first && (!last || !ip.Is4())
}

func lastOf(prefix netip.Prefix, size int) netip.Addr {
	ip := prefix.Addr()
	if !ip.Is4() || size < 2 {
		return netip.Addr{}
	}
	bytes := ip.As4()
	for bit := prefix.Bits(); bit < 32; bit++ {
		bytes[bit/8] |= 1 << (7 - bit%8)
	}
	return netip.AddrFrom4(bytes)
}

// contains reports whether an address is in one of the ranges.
func (p *pool) contains(text string) bool {
	ip, err := netip.ParseAddr(text)
	return err == nil && slices.ContainsFunc(p.ranges, func(r netip.Prefix) bool { return r.Contains(ip) })
}

// takeGiven takes the address that a client wants.
func (p *pool) takeGiven(ctx context.Context, text string, service *corev1.Service) error {
	ip, err := netip.ParseAddr(text)
	if err != nil {
		return nil //nolint:nilerr // validation refuses it
	}
	for _, prefix := range p.ranges {
		if prefix.Contains(ip) {
			return p.take(ctx, ip, service)
		}
	}
	shown := ""
	if len(p.ranges) > 0 {
		shown = p.ranges[0].String()
	}
	return fmt.Errorf("the provided IP (%s) is not in the valid range. The range of valid IPs is %s", text, shown)
}

// release gives addresses back.
func release(ctx context.Context, ips []string) {
	addresses, err := reach.Of[*networkingv1.IPAddress](ctx)
	if err != nil {
		return
	}
	for _, ip := range ips {
		if ip != corev1.ClusterIPNone {
			_ = addresses.Delete(ctx, "", ip, metav1.DeleteOptions{}) // what is left, the repair finds
		}
	}
}
