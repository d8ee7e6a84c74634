package cel

import (
	"fmt"
	"net/netip"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// addresses has ip, isIP, ip.isCanonical and the methods of an address; networks has the same of CIDR blocks.
type (
	addresses struct{ plain }
	networks  struct{ plain }
)

var addressClass = &class[netip.Addr]{
	typ: celgo.OpaqueType("net.IP"), name: "IP", converts: true, text: netip.Addr.String,
	equal: func(a, b netip.Addr) bool { return a == b },
	size:  func(a netip.Addr) int { return (a.BitLen() + 7) / 8 },
}

var networkClass = &class[netip.Prefix]{
	typ: celgo.OpaqueType("net.CIDR"), name: "CIDR", converts: true, text: netip.Prefix.String,
	equal: func(a, b netip.Prefix) bool { return a == b },
	size:  func(p netip.Prefix) int { return (p.Bits() + 7) / 8 },
}

// LibraryName returns Kubernetes' name.
func (addresses) LibraryName() string { return "kubernetes.net.ip" }

// CompileOptions declares the functions of addresses.
func (addresses) CompileOptions() []celgo.EnvOption {
	str, boolean, typ := celgo.StringType, celgo.BoolType, addressClass.typ
	is := func(id string, f func(netip.Addr) bool) []celgo.FunctionOpt {
		return []celgo.FunctionOpt{member(id, signature(typ), boolean,
			on(func(a netip.Addr) ref.Val { return types.Bool(f(a)) }))}
	}
	return declarations{
		"ip":                   {global("string_to_ip", signature(str), typ, on(address))},
		"isIP":                 {global("is_ip", signature(str), boolean, on(isAddress))},
		"ip.isCanonical":       {global("ip_is_canonical", signature(str), boolean, on(isCanonical))},
		"family":               {member("ip_family", signature(typ), celgo.IntType, on(family))},
		"isUnspecified":        is("ip_is_unspecified", netip.Addr.IsUnspecified),
		"isLoopback":           is("ip_is_loopback", netip.Addr.IsLoopback),
		"isLinkLocalMulticast": is("ip_is_link_local_multicast", netip.Addr.IsLinkLocalMulticast),
		"isLinkLocalUnicast":   is("ip_is_link_local_unicast", netip.Addr.IsLinkLocalUnicast),
		"isGlobalUnicast":      is("ip_is_global_unicast", netip.Addr.IsGlobalUnicast),
		"string": {global("ip_to_string", signature(typ), str,
			on(func(a netip.Addr) ref.Val { return types.String(a.String()) }))},
	}.options(celgo.Types(typ))
}

// parseAddress rejects zones, and IPv4 addresses in the form of IPv6.
func parseAddress(s string) (netip.Addr, error) {
	a, err := netip.ParseAddr(s)
	switch {
	case err != nil:
		return a, fmt.Errorf("IP Address %q parse error during conversion from string: %w", s, err)
	case a.Zone() != "":
		return a, fmt.Errorf("IP address %q with zone value is not allowed", s)
	case a.Is4In6():
		return a, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return a, nil
}

func address(s string) ref.Val {
	a, err := parseAddress(s)
	if err != nil {
		return types.NewErr("%v", err)
	}
	return addressClass.of(a)
}

func isAddress(s string) ref.Val {
	_, err := parseAddress(s)
	return types.Bool(err == nil)
}

func isCanonical(s string) ref.Val {
	a, err := parseAddress(s)
	if err != nil {
		return types.NewErr("%v", err)
	}
	return types.Bool(a.String() == s)
}

func family(a netip.Addr) ref.Val {
	if a.Is4() {
		return types.Int(4)
	}
	return types.Int(6)
}

// LibraryName returns Kubernetes' name.
func (networks) LibraryName() string { return "kubernetes.net.cidr" }

// CompileOptions declares the functions of networks.
func (networks) CompileOptions() []celgo.EnvOption {
	str, boolean, typ := celgo.StringType, celgo.BoolType, networkClass.typ
	return declarations{
		"cidr":   {global("string_to_cidr", signature(str), typ, on(network))},
		"isCIDR": {global("is_cidr", signature(str), boolean, on(isNetwork))},
		"containsIP": {
			member("cidr_contains_ip_string", signature(typ, str), boolean, onBoth(holdsAddress)),
			member("cidr_contains_ip_ip", signature(typ, addressClass.typ), boolean,
				onBoth(func(n netip.Prefix, a netip.Addr) ref.Val { return types.Bool(n.Contains(a)) })),
		},
		"containsCIDR": {
			member("cidr_contains_cidr_string", signature(typ, str), boolean, onBoth(holdsNetwork)),
			member("cidr_contains_cidr", signature(typ, typ), boolean,
				onBoth(func(n, o netip.Prefix) ref.Val { return types.Bool(contains(n, o)) })),
		},
		"ip": {member("cidr_ip", signature(typ), addressClass.typ,
			on(func(n netip.Prefix) ref.Val { return addressClass.of(n.Addr()) }))},
		"prefixLength": {member("cidr_prefix_length", signature(typ), celgo.IntType,
			on(func(n netip.Prefix) ref.Val { return types.Int(n.Bits()) }))},
		"masked": {member("cidr_masked", signature(typ), typ,
			on(func(n netip.Prefix) ref.Val { return networkClass.of(n.Masked()) }))},
		"string": {global("cidr_to_string", signature(typ), str,
			on(func(n netip.Prefix) ref.Val { return types.String(n.String()) }))},
	}.options(celgo.Types(typ))
}

const networkFault = "network address parse error during conversion from string: "

func parseNetwork(s string) (netip.Prefix, error) {
	n, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return n, fmt.Errorf(networkFault+"%w", err)
	case n.Addr().Is4In6():
		return n, fmt.Errorf("IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return n, nil
}

func network(s string) ref.Val {
	n, err := parseNetwork(s)
	if err != nil {
		return types.NewErr(networkFault+"%v", err)
	}
	return networkClass.of(n)
}

func isNetwork(s string) ref.Val {
	_, err := parseNetwork(s)
	return types.Bool(err == nil)
}

func contains(outer, inner netip.Prefix) bool {
	return outer.Overlaps(inner) && outer.Bits() <= inner.Bits()
}

// holdsAddress tells whether a network has an address, which is given as text. As in Kubernetes, the error for an
// invalid address is that of an unknown function, while an invalid network has an error of its own.
func holdsAddress(n netip.Prefix, s string) ref.Val {
	a, err := parseAddress(s)
	if err != nil {
		return types.NoSuchOverloadErr()
	}
	return types.Bool(n.Contains(a))
}

func holdsNetwork(n netip.Prefix, s string) ref.Val {
	inner, err := parseNetwork(s)
	if err != nil {
		return types.NewErr(networkFault+"%v", err)
	}
	return types.Bool(contains(n, inner))
}
