package etcdtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Certificates are the files with which members and clients of a Cluster authenticate. The certificate names no user.
type Certificates struct {
	CAFile, CertFile, KeyFile string

	authority *x509.Certificate
	key       *ecdsa.PrivateKey
	template  *x509.Certificate // what CertFile was made from
}

// newCertificates makes an authority, and a certificate for the members and for clients.
func newCertificates(t testing.TB) Certificates {
	t.Helper()
	authority := newTemplate(pkix.Name{CommonName: "authority"})
	authority.IsCA, authority.KeyUsage = true, x509.KeyUsageCertSign
	return Certificates{}.sign(t, authority).Server(t)
}

// Server returns the files of a server on the loopback address, which may be a client, too.
func (c Certificates) Server(t testing.TB) Certificates {
	t.Helper()
	template := newTemplate(pkix.Name{Organization: []string{"etcd"}})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	return c.sign(t, template)
}

// User returns the files of a client whose certificate names a user.
func (c Certificates) User(t testing.TB, name string) Certificates {
	t.Helper()
	template := newTemplate(pkix.Name{CommonName: name})
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	return c.sign(t, template)
}

// Renew replaces the files by those of a new key and a new certificate of the same subject, one file after the other.
func (c Certificates) Renew(t testing.TB) {
	t.Helper()
	next := c.sign(t, c.template)
	for from, to := range map[string]string{next.KeyFile: c.KeyFile, next.CertFile: c.CertFile} {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
}

// sign makes a certificate. An authority signs itself, and the further certificates of the result.
func (c Certificates) sign(t testing.TB, template *x509.Certificate) Certificates {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c.template = template
	c.CertFile, c.KeyFile = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if template.IsCA {
		c.CAFile, c.authority, c.key = c.CertFile, template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, c.authority, key.Public(), c.key)
	if err != nil {
		t.Fatal(err)
	}
	if template.IsCA {
		if c.authority, err = x509.ParseCertificate(der); err != nil { // with the id of its key
			t.Fatal(err)
		}
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writePEM(t, c.CertFile, "CERTIFICATE", der)
	writePEM(t, c.KeyFile, "PRIVATE KEY", private)
	return c
}

// newTemplate returns a certificate that is valid for years around now: tests change clocks.
func newTemplate(subject pkix.Name) *x509.Certificate {
	return &x509.Certificate{
		Subject: subject, BasicConstraintsValid: true, // x509 makes a serial number
		NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(2, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
}

func writePEM(t testing.TB, path, kind string, der []byte) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
}
