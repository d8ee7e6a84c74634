package certs

import (
	"crypto/tls"
	"fmt"
	"slices"
	"strings"
)

// versions are the values of --tls-min-version, oldest first.
var versions = []struct {
	name string
	id   uint16
}{
	{"VersionTLS10", tls.VersionTLS10}, {"VersionTLS11", tls.VersionTLS11},
	{"VersionTLS12", tls.VersionTLS12}, {"VersionTLS13", tls.VersionTLS13},
}

// VersionNames returns the values of --tls-min-version.
func VersionNames() []string {
	names := make([]string, 0, len(versions))
	for _, v := range versions {
		names = append(names, v.name)
	}
	return names
}

// CipherNames returns the values of --tls-cipher-suites: those that are secure, and those that are not.
func CipherNames() (secure, insecure []string) {
	return suiteNames(tls.CipherSuites()), suiteNames(tls.InsecureCipherSuites())
}

func suiteNames(suites []*tls.CipherSuite) []string {
	names := make([]string, 0, len(suites))
	for _, suite := range suites {
		names = append(names, suite.Name)
	}
	slices.Sort(names)
	return names
}

// Policy says which versions and cipher suites of TLS a server accepts.
type Policy struct {
	// MinVersion is the oldest version; "" is VersionTLS12.
	MinVersion string
	// Ciphers are the cipher suites of TLS 1.2 and before; none are those that Go prefers.
	Ciphers []string
}

// oldNames are names of cipher suites that kube-apiserver still accepts.
var oldNames = map[string]uint16{
	"TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305":   tls.TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
	"TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305": tls.TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
}

// needed are the cipher suites one of which every server of HTTP/2 over TLS 1.2 must have.
var needed = []uint16{
	tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
}

// Config returns a configuration with the versions and cipher suites of the policy, without certificates. Its errors
// name the flags. The warnings are for the operator's log.
func (p Policy) Config() (config *tls.Config, warnings []string, err error) {
	config = &tls.Config{MinVersion: tls.VersionTLS12}
	if p.MinVersion != "" {
		i := slices.Index(VersionNames(), p.MinVersion)
		if i < 0 {
			return nil, nil, fmt.Errorf("--tls-min-version: %q is none of %s", p.MinVersion,
				strings.Join(VersionNames(), ", "))
		}
		config.MinVersion = versions[i].id
	}
	if config.MinVersion < tls.VersionTLS12 {
		warnings = append(warnings, "--tls-min-version="+p.MinVersion+" accepts connections that can be broken")
	}
	if len(p.Ciphers) == 0 {
		return config, warnings, nil
	}
	for _, name := range p.Ciphers {
		id, insecure := suite(name)
		if id == 0 {
			return nil, nil, fmt.Errorf("--tls-cipher-suites: there is no cipher suite %q", name)
		}
		if insecure {
			warnings = append(warnings, "--tls-cipher-suites: "+name+" is insecure")
		}
		config.CipherSuites = append(config.CipherSuites, id)
	}
	if config.MinVersion >= tls.VersionTLS13 {
		warnings = append(warnings, "--tls-cipher-suites has no effect on TLS 1.3, whose cipher suites are fixed")
		return config, warnings, nil
	}
	if !slices.ContainsFunc(needed, func(id uint16) bool { return slices.Contains(config.CipherSuites, id) }) {
		return nil, nil, fmt.Errorf("--tls-cipher-suites: HTTP/2 needs %s or %s",
			tls.CipherSuiteName(needed[0]), tls.CipherSuiteName(needed[1]))
	}
	return config, warnings, nil
}

// suite returns the cipher suite of a name; 0 if there is none.
func suite(name string) (id uint16, insecure bool) {
	named := func(suite *tls.CipherSuite) bool { return suite.Name == name }
	if all := tls.CipherSuites(); slices.ContainsFunc(all, named) {
		return all[slices.IndexFunc(all, named)].ID, false
	}
	if all := tls.InsecureCipherSuites(); slices.ContainsFunc(all, named) {
		return all[slices.IndexFunc(all, named)].ID, true
	}
	return oldNames[name], false
}
