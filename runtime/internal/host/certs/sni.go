package certs

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"slices"
	"strings"
)

// Named is a serving certificate and the patterns of the names that it is for, as --tls-sni-cert-key has them. Without
// patterns it is for the names in the certificate.
type Named struct {
	Certificate, Key string
	Patterns         []string
}

// ParseNamed parses "certificate,key" and "certificate,key:pattern,pattern". A pattern is a domain name, whose first
// label may be *, or an IP address. Spaces around the parts don't count.
func ParseNamed(value string) (Named, error) {
	files, patterns, has := strings.Cut(value, ":")
	certificate, key, pair := strings.Cut(files, ",")
	n := Named{Certificate: strings.TrimSpace(certificate), Key: strings.TrimSpace(key)}
	if !pair || n.Certificate == "" || n.Key == "" || strings.Contains(n.Key, ",") {
		return Named{}, errors.New("want the files of a certificate and of its key: cert.pem,key.pem, or " +
			"cert.pem,key.pem:*.example.com,example.com")
	}
	if !has {
		return n, nil
	}
	for pattern := range strings.SplitSeq(patterns, ",") {
		pattern = strings.TrimSpace(pattern)
		if err := CheckName(pattern); err != nil {
			return Named{}, err
		}
		n.Patterns = append(n.Patterns, nameKey(pattern))
	}
	return n, nil
}

// String returns what ParseNamed parses.
func (n Named) String() string {
	text := n.Certificate + "," + n.Key
	if len(n.Patterns) > 0 {
		text += ":" + strings.Join(n.Patterns, ",")
	}
	return text
}

// nameKey returns a name or an address in the one form in which it is looked up.
func nameKey(name string) string {
	if ip := net.ParseIP(name); ip != nil {
		return ip.String()
	}
	return strings.ToLower(name)
}

// choice chooses the serving certificate for a client.
type choice struct {
	all   []*tls.Certificate // the default one first
	names map[string]*tls.Certificate
}

// newChoice has the order of kube-apiserver: patterns of flags go before names in certificates, and earlier flags
// before later ones.
func newChoice(standard *tls.Certificate, others []*named) *choice {
	c := &choice{all: []*tls.Certificate{standard}, names: map[string]*tls.Certificate{}}
	for _, n := range others {
		c.add(n.Patterns, n.Value().pair)
	}
	for _, n := range others {
		if len(n.Patterns) == 0 {
			c.add(certificateNames(n.Value().pair.Leaf), n.Value().pair)
		}
	}
	return c
}

// add adds a certificate for those of its names that no other has. Without such a name it is shown to nobody.
func (c *choice) add(names []string, cert *tls.Certificate) {
	for _, name := range names {
		if c.names[name] != nil {
			continue
		}
		c.names[name] = cert
		if !slices.Contains(c.all, cert) {
			c.all = append(c.all, cert)
		}
	}
}

// certificateNames returns the names for which a certificate without patterns is chosen. Addresses are none of them,
// since no client names an address.
func certificateNames(cert *x509.Certificate) []string {
	names := make([]string, 0, 1+len(cert.DNSNames))
	if common := cert.Subject.CommonName; CheckName(common) == nil && net.ParseIP(common) == nil {
		names = append(names, strings.ToLower(common))
	}
	for _, name := range cert.DNSNames {
		names = append(names, strings.ToLower(name))
	}
	return names
}

// of returns the certificate for a client: that of the name which the client asks for, then that of a wildcard, and
// then the first that the client accepts. A client that reaches the server by an address names nothing; it gets the
// certificate whose pattern is that address.
func (c *choice) of(hello *tls.ClientHelloInfo) *tls.Certificate {
	name := strings.ToLower(hello.ServerName)
	if name == "" {
		name = localAddress(hello.Conn)
	}
	if cert := c.names[name]; cert != nil {
		return cert
	}
	if _, parent, ok := strings.Cut(hello.ServerName, "."); ok {
		name = "*." + strings.ToLower(parent)
	} else {
		name = "*"
	}
	if cert := c.names[name]; cert != nil && hello.ServerName != "" {
		return cert
	}
	if len(c.all) > 1 {
		for _, cert := range c.all {
			if hello.SupportsCertificate(cert) == nil {
				return cert
			}
		}
	}
	return c.all[0]
}

// localAddress returns the address at which a client reached the server, or "".
func localAddress(conn net.Conn) string {
	if conn == nil {
		return ""
	}
	host, _, err := net.SplitHostPort(conn.LocalAddr().String())
	if err != nil {
		return ""
	}
	return nameKey(host)
}
