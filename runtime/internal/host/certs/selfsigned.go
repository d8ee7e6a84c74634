package certs

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"time"
)

// SelfSigned makes a certificate for a server name that is its own authority, and returns it also in PEM. No file has
// it: it ends with the process.
func SelfSigned(name string) (*tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := certificate(pkix.Name{CommonName: name}, time.Now(), authorityLife)
	template.DNSNames = []string{name}
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	made, err := create(template, template, key.Public(), key)
	if err != nil {
		return nil, nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{made.Raw}, PrivateKey: key, Leaf: made},
		encodeCertificates([]*x509.Certificate{made}), nil
}
