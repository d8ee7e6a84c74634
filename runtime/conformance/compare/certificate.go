package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// authority signs the certificates of the servers and of the clients. Its key is RSA, as in most clusters: a server
// checks signatures of such a key faster than those of an ECDSA key.
type authority struct {
	dir         string
	certificate *x509.Certificate
	key         *rsa.PrivateKey
}

// newAuthority writes ca.crt into dir.
func newAuthority(dir string) (*authority, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	template := newTemplate(pkix.Name{CommonName: "compare"})
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	a := &authority{dir: dir, certificate: template, key: key}
	der, err := a.sign("ca", template, key.Public())
	if err != nil {
		return nil, err
	}
	a.certificate, err = x509.ParseCertificate(der)
	return a, err
}

// issue writes a certificate and its key into NAME.crt and NAME.key.
func (a *authority) issue(name string, subject pkix.Name) error {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	template := newTemplate(subject)
	template.KeyUsage = x509.KeyUsageDigitalSignature
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	template.IPAddresses = []net.IP{net.IPv4(127, 0, 0, 1)}
	if _, err := a.sign(name, template, key.Public()); err != nil {
		return err
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return os.WriteFile(a.file(name+".key"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600)
}

func (a *authority) sign(name string, template *x509.Certificate, key crypto.PublicKey) ([]byte, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key, a.key)
	if err != nil {
		return nil, err
	}
	block := &pem.Block{Type: "CERTIFICATE", Bytes: der}
	return der, os.WriteFile(a.file(name+".crt"), pem.EncodeToMemory(block), 0o600)
}

func (a *authority) file(name string) string { return filepath.Join(a.dir, name) }

// clientConfig is what a client has whose certificate was issued under a name.
func (a *authority) clientConfig(name string) (*tls.Config, error) {
	own, err := tls.LoadX509KeyPair(a.file(name+".crt"), a.file(name+".key"))
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AddCert(a.certificate)
	return &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{own}}, nil
}

func newTemplate(subject pkix.Name) *x509.Certificate {
	now := time.Now()
	return &x509.Certificate{SerialNumber: big.NewInt(now.UnixNano()), Subject: subject,
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(24 * time.Hour)}
}
