package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
)

// identity has the certificates that a server makes itself and keeps in its data directory: an authority, a serving
// certificate, and the client certificate of an administrator.
type identity struct {
	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	dir       string
}

// Certificates are valid for a life, and from a day before they are made: a clock that was fast at the first start, and
// is corrected later by less than a day, locks nobody out. At a start, the server renews a certificate that ends soon.
const (
	backdated     = 24 * time.Hour
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 365 * 24 * time.Hour
	renewBefore   = 60 * 24 * time.Hour
)

// loadIdentity reads the authority in dir, or makes one if there is none. It never replaces an authority. Only the user
// of the process can read the directory.
func loadIdentity(dir string) (*identity, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	id := &identity{dir: dir}
	pair, err := id.read("ca")
	if err != nil {
		if _, lost := os.Stat(filepath.Join(dir, "ca.crt")); !errors.Is(err, fs.ErrNotExist) || lost == nil {
			return nil, fmt.Errorf("%w; restore ca.crt and ca.key, or delete both to begin with a new authority, "+
				"which no kubeconfig given out so far trusts", err)
		}
		template := certificate(pkix.Name{CommonName: "apigen"}, authorityLife)
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage = x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature
		if pair, err = id.issue("ca", template); err != nil {
			return nil, err
		}
	}
	key, ok := pair.PrivateKey.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("ca.key is no ECDSA key")
	}
	id.authority, id.key = pair.Leaf, key
	return id, nil
}

// issue makes a pair, which the authority signs. The authority signs itself.
func (id *identity) issue(name string, template *x509.Certificate) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	issuer, issuerKey := id.authority, id.key
	if issuer == nil {
		issuer, issuerKey = template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key.Public(), issuerKey)
	if err != nil {
		return tls.Certificate{}, err
	}
	return id.write(name, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key})
}

// serving returns a certificate for the server's addresses: the one in the directory if it has them, else a new one.
func (id *identity) serving(host string) (tls.Certificate, error) {
	template := certificate(pkix.Name{CommonName: "apigen server"}, leafLife)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	template.DNSNames = []string{"localhost"}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback}
	if name, err := os.Hostname(); err == nil {
		template.DNSNames = append(template.DNSNames, name)
	}
	template.IPAddresses = append(template.IPAddresses, addressesOf(host)...)
	return id.leaf("server", template, func(cert *x509.Certificate) bool {
		names := slices.Clone(template.DNSNames)
		for _, ip := range template.IPAddresses {
			names = append(names, ip.String())
		}
		return !slices.ContainsFunc(names, func(name string) bool { return cert.VerifyHostname(name) != nil })
	})
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

func (id *identity) administrator() (tls.Certificate, error) {
	template := certificate(pkix.Name{CommonName: "apigen:admin", Organization: []string{auth.Masters}}, leafLife)
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return id.leaf("admin", template, func(*x509.Certificate) bool { return true })
}

// leaf returns the pair of a name. It makes a new one if the pair doesn't fit, ends soon, or can't be parsed: a kill
// may have left a key beside an older certificate.
func (id *identity) leaf(
	name string, template *x509.Certificate, fits func(*x509.Certificate) bool,
) (tls.Certificate, error) {
	pair, err := id.read(name)
	if err == nil && pair.Leaf.CheckSignatureFrom(id.authority) == nil &&
		time.Until(pair.Leaf.NotAfter) > renewBefore && fits(pair.Leaf) {
		return pair, nil
	}
	if unreadable := (*fs.PathError)(nil); errors.As(err, &unreadable) && !errors.Is(err, fs.ErrNotExist) {
		return tls.Certificate{}, err
	}
	return id.issue(name, template)
}

func certificate(subject pkix.Name, life time.Duration) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{ // x509 makes a serial number
		Subject: subject, NotBefore: now.Add(-backdated), NotAfter: now.Add(life),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func (id *identity) read(name string) (tls.Certificate, error) {
	return tls.LoadX509KeyPair(filepath.Join(id.dir, name+".crt"), filepath.Join(id.dir, name+".key"))
}

// write stores a pair. It replaces each file in one step, the key first.
func (id *identity) write(name string, pair tls.Certificate) (tls.Certificate, error) {
	certificate, key, err := pemOf(pair)
	if err == nil {
		err = writeFile(filepath.Join(id.dir, name+".key"), key, 0o600)
	}
	if err == nil {
		err = writeFile(filepath.Join(id.dir, name+".crt"), certificate, 0o644)
	}
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(certificate, key)
}

func encodePEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// writeFile replaces a file in one step, so that a kill leaves the old or the new one.
func writeFile(path string, content []byte, mode fs.FileMode) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(temp.Name()) }() // fails after the file was renamed, as it should
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(mode), temp.Sync(), temp.Close())
	if err != nil {
		return err
	}
	return os.Rename(temp.Name(), path)
}
