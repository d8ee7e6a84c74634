package certs

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
)

// The server renews a certificate of its own that ends soon.
const (
	leafLife    = 365 * 24 * time.Hour
	renewBefore = 60 * 24 * time.Hour
)

// leaf describes a certificate that the authority keeps in its directory, as <name>.crt and <name>.key.
type leaf struct {
	name    string
	subject pkix.Name
	usage   x509.ExtKeyUsage
	dns     []string
	ips     []net.IP
}

// The certificates that the server makes itself.
const (
	serverLeaf = "server"
	adminLeaf  = "admin"
)

// serving is the certificate of a server, for names and addresses.
func serving(names []string) leaf {
	l := leaf{
		name: serverLeaf, subject: pkix.Name{CommonName: "apigen server"}, usage: x509.ExtKeyUsageServerAuth,
	}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			l.ips = append(l.ips, ip)
		} else {
			l.dns = append(l.dns, name)
		}
	}
	return l
}

// administrator is the client certificate in the admin kubeconfig.
func administrator() leaf {
	return leaf{
		name: adminLeaf, subject: pkix.Name{CommonName: "apigen:admin", Organization: []string{auth.Masters}},
		usage: x509.ExtKeyUsageClientAuth,
	}
}

func (l leaf) names() []string { return namesOf(l.dns, l.ips) }

// namesOf returns names and addresses in one order, each once.
func namesOf(dns []string, ips []net.IP) []string {
	names := slices.Clone(dns)
	for _, ip := range ips {
		names = append(names, ip.String())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Names returns the names and addresses of a server that listens at host: this machine's, and further ones.
func Names(host string, further []string) []string {
	names := []string{"localhost", "127.0.0.1", "::1"}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	for _, ip := range addressesOf(host) {
		names = append(names, ip.String())
	}
	for _, name := range further {
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// addressesOf returns the addresses at which other machines reach a server that listens at host.
func addressesOf(host string) []net.IP {
	ip := net.ParseIP(host)
	if ip == nil || ip.IsLoopback() {
		return nil
	}
	if !ip.IsUnspecified() {
		return []net.IP{ip}
	}
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	var out []net.IP
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			out = append(out, network.IP)
		}
	}
	return out
}

// CheckName returns an error unless a certificate can be for name: an IP address, or a domain name, whose first label
// may be *.
func CheckName(name string) error {
	if net.ParseIP(name) != nil || name == "*" {
		return nil
	}
	labels := strings.Split(strings.TrimPrefix(name, "*."), ".")
	bad := len(name) > 253 || slices.ContainsFunc(labels, func(label string) bool {
		return label == "" || len(label) > 63 || strings.ContainsFunc(label, func(r rune) bool {
			letter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
			return !letter && r != '-' && r != '_'
		})
	})
	if bad {
		return fmt.Errorf("%q is neither an IP address nor a domain name like api.example.com or *.example.com", name)
	}
	return nil
}

// issue makes a pair in place of that in the directory. The pair is usable though the error says that
// the files could not be written.
func (a *Authority) issue(l leaf) (*tls.Certificate, error) {
	template := certificate(l.subject, a.now(), leafLife)
	template.ExtKeyUsage = []x509.ExtKeyUsage{l.usage}
	template.DNSNames, template.IPAddresses = l.dns, l.ips
	pair, err := a.pair(template)
	if err != nil {
		return nil, err
	}
	made, err := parsePair(pair.Certificate, pair.Key)
	if err != nil {
		return nil, err
	}
	return made, a.write(l.name, pair)
}

// write writes a pair to the directory, the key first.
func (a *Authority) write(name string, pair Pair) error {
	if err := WriteFile(a.file(name+".key"), pair.Key, 0o600); err != nil {
		return err
	}
	return WriteFile(a.file(name+".crt"), pair.Certificate, 0o644)
}

func (a *Authority) file(name string) string { return filepath.Join(a.dir, name) }

// pair makes a key, and a certificate for it that the authority signs. With the chain, it is also accepted where only
// an earlier authority is known.
func (a *Authority) pair(template *x509.Certificate) (Pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Pair{}, err
	}
	cert, err := a.sign(template, key.Public())
	if err != nil {
		return Pair{}, err
	}
	encoded, err := encodeKey(key)
	return Pair{encodeCertificates(append([]*x509.Certificate{cert}, a.chain...)), encoded}, err
}

func (a *Authority) read(name string) (*tls.Certificate, error) {
	certificate, err := os.ReadFile(a.file(name + ".crt"))
	if err != nil {
		return nil, err
	}
	key, err := os.ReadFile(a.file(name + ".key"))
	if err != nil {
		return nil, err
	}
	return parsePair(certificate, key)
}

// fits reports whether a pair is what the authority would make of a leaf today.
func (a *Authority) fits(pair *tls.Certificate, l leaf) bool {
	cert := pair.Leaf
	return a.good(pair) && slices.Contains(cert.ExtKeyUsage, l.usage) &&
		slices.Equal(namesOf(cert.DNSNames, cert.IPAddresses), l.names())
}

// good reports whether the authority signed a pair, and the pair doesn't end soon. A certificate that ends with the
// authority can't be renewed.
func (a *Authority) good(pair *tls.Certificate) bool {
	if pair.Leaf.CheckSignatureFrom(a.certs[0]) != nil {
		return false
	}
	chained := slices.EqualFunc(pair.Certificate[1:], a.chain, func(der []byte, link *x509.Certificate) bool {
		return bytes.Equal(der, link.Raw)
	})
	ends := pair.Leaf.NotAfter
	return chained && (a.now().Add(renewBefore).Before(ends) || !ends.Before(a.Ends()))
}

// keep writes a pair that is used to the directory.
func (a *Authority) keep(name string, pair *tls.Certificate) error {
	encoded, err := encodePair(pair)
	if err != nil {
		return err
	}
	return a.write(name, encoded)
}

// Renewable returns the names of the certificates in the directory that Renew renews.
func (a *Authority) Renewable() []string {
	return slices.DeleteFunc([]string{serverLeaf, adminLeaf}, func(name string) bool {
		_, err := os.Stat(a.file(name + ".crt"))
		return err != nil
	})
}

// Renew makes a certificate in the directory anew, for the same names.
func (a *Authority) Renew(name string) (*x509.Certificate, error) {
	l := administrator()
	switch name {
	case adminLeaf:
	case serverLeaf:
		content, err := os.ReadFile(a.file(name + ".crt"))
		if err != nil {
			return nil, err
		}
		certs, err := parseBundle(content)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; start the server, which makes it anew", a.file(name+".crt"), err)
		}
		l = serving(namesOf(certs[0].DNSNames, certs[0].IPAddresses))
	default:
		return nil, fmt.Errorf("the server makes no certificate %q: it has %s", name,
			strings.Join(a.Renewable(), ", "))
	}
	pair, err := a.issue(l)
	if err != nil {
		return nil, err
	}
	return pair.Leaf, nil
}

// Administrator returns the client certificate in the directory whose user may do everything.
func (a *Authority) Administrator() (Pair, error) {
	pair, err := a.read(adminLeaf)
	if err != nil {
		return Pair{}, err
	}
	return encodePair(pair)
}
