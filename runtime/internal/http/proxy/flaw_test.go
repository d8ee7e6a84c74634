package proxy

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"
	"time"
)

// signed returns a certificate for a service ns/name, signed by an authority that it returns in PEM.
func signed(t *testing.T, algorithm x509.SignatureAlgorithm, names ...string) (tls.Certificate, []byte) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	authority := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "authority"}, IsCA: true,
		BasicConstraintsValid: true, NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	root, err := x509.CreateCertificate(rand.Reader, authority, authority, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "name.ns.svc"}, DNSNames: names,
		NotAfter: time.Now().Add(time.Hour), SignatureAlgorithm: algorithm,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, authority, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: root})
}

// TestFlaws: flaws of certificates are told, whether the certificate is accepted or refused.
func TestFlaws(t *testing.T) {
	for _, test := range []struct {
		name      string
		algorithm x509.SignatureAlgorithm
		names     []string
		insecure  bool
		fails     bool
		want      []Flaw
	}{
		{"good", x509.SHA256WithRSA, []string{"name.ns.svc"}, false, false, nil},
		{"no name", x509.SHA256WithRSA, nil, false, true, []Flaw{MissingSAN}},
		{"no name, accepted", x509.SHA256WithRSA, nil, true, false, []Flaw{MissingSAN}},
		{"another name", x509.SHA256WithRSA, []string{"other.ns.svc"}, false, true, nil},
		{"SHA-1", x509.SHA1WithRSA, []string{"name.ns.svc"}, false, true, []Flaw{InsecureSHA1}},
		{"SHA-1, accepted", x509.SHA1WithRSA, []string{"name.ns.svc"}, true, false, []Flaw{InsecureSHA1}},
	} {
		certificate, authority := signed(t, test.algorithm, test.names...)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		server.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
		server.Config.ErrorLog = silent
		server.StartTLS()
		t.Cleanup(server.Close)
		var flaws []Flaw
		config := Config{
			Namespace: "ns", Name: "name", InsecureSkipTLSVerify: test.insecure,
			Resolve: at(server.Listener.Addr().String()),
			Flaw:    func(f Flaw) { flaws = append(flaws, f) },
		}
		if !test.insecure {
			config.CABundle = authority
		}
		b, err := New(config)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(b.Close)
		_, err = b.Fetch(t.Context(), aggregator, "/apis", "", nil)
		if (err != nil) != test.fails || !slices.Equal(flaws, test.want) {
			t.Errorf("%s: flaws %v, want %v; error %v", test.name, flaws, test.want, err)
		}
	}
}
