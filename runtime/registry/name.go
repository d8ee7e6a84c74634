package registry

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/api/validate/content"
)

// The rules for names that no package of apimachinery has, or that are deprecated there. Each is a function for
// Strategy.ValidateName; validation.NameIsDNSSubdomain, NameIsDNSLabel and NameIsDNS1035Label are others.

// NameIsPathSegment returns why a name can't stand between two slashes of a URL, or begin a name there.
func NameIsPathSegment(name string, generated bool) []string {
	if generated {
		return content.IsPathSegmentPrefix(name)
	}
	return content.IsPathSegmentName(name)
}

// NameIsIP returns why a name is no IP address in canonical form. The prefix of a generated name is judged as a name is:
// what follows an address makes none.
func NameIsIP(name string, _ bool) []string {
	address, err := netip.ParseAddr(name)
	switch {
	case err != nil:
		return []string{err.Error()}
	case address.String() != name:
		return []string{"must be a canonical format IP address"}
	}
	return nil
}
