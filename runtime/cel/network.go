package cel

import (
	"fmt"
	"net/netip"
	"net/url"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
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

// addressFunctions are ip, isIP, ip.isCanonical and the methods of an address. The package ext of cel-go has them, too,
// but it refuses more expressions than Kubernetes, and has other errors.
func addressFunctions() functions {
	return functions{
		"ip":                   {global("string_to_ip", unaryOrError(parseAddress))},
		"isIP":                 {global("is_ip", unary(succeeds(parseAddress)))},
		"ip.isCanonical":       {global("ip_is_canonical", unaryOrError(isCanonical))},
		"family":               {member("ip_family", unary(family))},
		"isUnspecified":        {member("ip_is_unspecified", unary(netip.Addr.IsUnspecified))},
		"isLoopback":           {member("ip_is_loopback", unary(netip.Addr.IsLoopback))},
		"isLinkLocalMulticast": {member("ip_is_link_local_multicast", unary(netip.Addr.IsLinkLocalMulticast))},
		"isLinkLocalUnicast":   {member("ip_is_link_local_unicast", unary(netip.Addr.IsLinkLocalUnicast))},
		"isGlobalUnicast":      {member("ip_is_global_unicast", unary(netip.Addr.IsGlobalUnicast))},
		"string":               {global("ip_to_string", unary(netip.Addr.String))},
	}
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

func isCanonical(s string) (bool, error) {
	a, err := parseAddress(s)
	return a.String() == s, err
}

func family(a netip.Addr) int {
	if a.Is4() {
		return 4
	}
	return 6
}

func networkFunctions() functions {
	return functions{
		"cidr":   {global("string_to_cidr", unaryOrError(parseNetwork))},
		"isCIDR": {global("is_cidr", unary(succeeds(parseNetwork)))},
		"containsIP": {
			member("cidr_contains_ip_string", binary(containsAddress).returns(celgo.BoolType)),
			member("cidr_contains_ip_ip", binary(netip.Prefix.Contains)),
		},
		"containsCIDR": {
			member("cidr_contains_cidr_string", binaryOrError(containsText)),
			member("cidr_contains_cidr", binary(contains)),
		},
		"ip":           {member("cidr_ip", unary(netip.Prefix.Addr))},
		"prefixLength": {member("cidr_prefix_length", unary(netip.Prefix.Bits))},
		"masked":       {member("cidr_masked", unary(netip.Prefix.Masked))},
		"string":       {global("cidr_to_string", unary(netip.Prefix.String))},
	}
}

// parseNetwork returns Kubernetes' errors, in which the beginning stands twice where the text is not a network.
func parseNetwork(s string) (netip.Prefix, error) {
	const fault = "network address parse error during conversion from string: "
	n, err := netip.ParsePrefix(s)
	switch {
	case err != nil:
		return n, fmt.Errorf(fault+fault+"%w", err)
	case n.Addr().Is4In6():
		return n, fmt.Errorf(fault+"IPv4-mapped IPv6 address %q is not allowed", s)
	}
	return n, nil
}

func contains(outer, inner netip.Prefix) bool {
	return outer.Overlaps(inner) && outer.Bits() <= inner.Bits()
}

// containsAddress reports whether a network has an address, which is given as text. As in Kubernetes, the error for an
// invalid address is that of an unknown function, while an invalid network has an error of its own.
func containsAddress(n netip.Prefix, s string) ref.Val {
	a, err := parseAddress(s)
	if err != nil {
		return types.NoSuchOverloadErr()
	}
	return types.Bool(n.Contains(a))
}

func containsText(n netip.Prefix, s string) (bool, error) {
	inner, err := parseNetwork(s)
	return err == nil && contains(n, inner), err
}

var urlClass = &class[*url.URL]{
	typ: celgo.ObjectType("kubernetes.URL"), name: "URL",
	equal: func(a, b *url.URL) bool { return a.String() == b.String() },
	text:  (*url.URL).String,
}

func urlFunctions() functions {
	str := celgo.StringType
	return functions{
		"url":            {global("string_to_url", unaryOrError(parseURL))},
		"isURL":          {global("is_url_string", unary(succeeds(url.ParseRequestURI)))},
		"getScheme":      {member("url_get_scheme", unary(func(u *url.URL) string { return u.Scheme }))},
		"getHost":        {member("url_get_host", unary(func(u *url.URL) string { return u.Host }))},
		"getHostname":    {member("url_get_hostname", unary((*url.URL).Hostname))},
		"getPort":        {member("url_get_port", unary((*url.URL).Port))},
		"getEscapedPath": {member("url_get_escaped_path", unary((*url.URL).EscapedPath))},
		"getQuery":       {member("url_get_query", unary(query).returns(celgo.MapType(str, celgo.ListType(str))))},
	}
}

// parseURL accepts absolute URLs and absolute paths. ParseRequestURI decides which text is one, and Parse, which knows
// fragments, parses it.
func parseURL(s string) (u *url.URL, err error) {
	if _, err = url.ParseRequestURI(s); err == nil {
		u, err = url.Parse(s)
	}
	if err != nil {
		return nil, fmt.Errorf("URL parse error during conversion from string: %w", err)
	}
	return u, nil
}

func query(u *url.URL) map[ref.Val]ref.Val {
	out := map[ref.Val]ref.Val{}
	for key, values := range u.Query() {
		out[types.String(key)] = types.NewStringList(types.DefaultTypeAdapter, values)
	}
	return out
}
