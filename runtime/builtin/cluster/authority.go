package cluster

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"slices"
	"time"
)

// An authority is replaced when half of its life is left, which is four lives of a leaf. A leaf is renewed when a third
// of its life is left. Certificates are valid from a day before they are made, and a day is also how much the clocks of
// replicas may differ.
const (
	authorityLife = 2 * 365 * 24 * time.Hour
	replaceBefore = authorityLife / 2
	leafLife      = 90 * 24 * time.Hour
	renewBefore   = leafLife / 3
	skew          = 24 * time.Hour
)

// authority signs leaves. It is immutable.
type authority struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// newAuthority makes an authority for a Service. No two have one name, because chains are found by names.
func newAuthority(service name, now time.Time) (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	id := make([]byte, 4)
	if _, err := rand.Read(id); err != nil {
		return nil, err
	}
	template := &x509.Certificate{ // x509 makes a serial number
		Subject:   pkix.Name{CommonName: "apigen " + hex.EncodeToString(id), Organization: []string{service.String()}},
		NotBefore: now.Add(-skew), NotAfter: now.Add(authorityLife),
		IsCA: true, BasicConstraintsValid: true, MaxPathLenZero: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	cert, err := create(template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	return &authority{cert, key}, nil
}

func create(template, issuer *x509.Certificate, key crypto.PublicKey, signer crypto.Signer) (*x509.Certificate, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key, signer)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// leaf signs a serving certificate for a new key. It ends no later than the authority.
func (a *authority) leaf(hosts []string, now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "apigen server"}, DNSNames: hosts,
		NotBefore: now.Add(-skew), NotAfter: now.Add(leafLife),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if a.cert.NotAfter.Before(template.NotAfter) {
		template.NotAfter = a.cert.NotAfter
	}
	made, err := create(template, a.cert, key.Public(), a.key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{made.Raw}, PrivateKey: key, Leaf: made}, nil
}

// fits reports whether a leaf is of this authority and doesn't end soon. A leaf that ends with the authority can't be
// renewed.
func (a *authority) fits(leaf *tls.Certificate, hosts []string, now time.Time) bool {
	if leaf == nil || leaf.Leaf.CheckSignatureFrom(a.cert) != nil || !slices.Equal(leaf.Leaf.DNSNames, hosts) {
		return false
	}
	ends := leaf.Leaf.NotAfter
	return now.Add(renewBefore).Before(ends) || !ends.Before(a.cert.NotAfter)
}

// ended reports whether an authority is none, or has ended.
func (a *authority) ended(now time.Time) bool { return a == nil || !now.Before(a.cert.NotAfter) }

func parseAuthority(certificate, key []byte) (*authority, error) {
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, err
	}
	signer, ok := pair.PrivateKey.(crypto.Signer)
	if !ok || !pair.Leaf.IsCA {
		return nil, errors.New("the certificate is no authority")
	}
	return &authority{pair.Leaf, signer}, nil
}

func (a *authority) encode() (certificate, key []byte, err error) {
	der, err := x509.MarshalPKCS8PrivateKey(a.key)
	return encodeCertificate(a.cert), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

func encodeCertificate(cert *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
}

func parseCertificate(content []byte) (*x509.Certificate, error) {
	block, _ := pem.Decode(content)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, errors.New("holds no certificate in PEM")
	}
	return x509.ParseCertificate(block.Bytes)
}
