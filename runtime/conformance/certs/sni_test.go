package certs

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// names are those of certificates and patterns, and those that clients ask for.
var names = []string{
	"a.com", "b.com", "x.a.com", "y.a.com", "*.a.com", "*.b.com", "*", "shop", "localhost", "x.y.a.com",
}

// pair is a certificate that signs itself, in files.
type pair struct {
	certificate, key string
	leaf             *x509.Certificate
	patterns         []string
}

func newPair(t *testing.T, dir, common string, names []string) pair {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(mathrand.Int64()), Subject: pkix.Name{CommonName: common},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: names,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	p := pair{certificate: filepath.Join(dir, common+".crt"), key: filepath.Join(dir, common+".key")}
	if p.leaf, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	encoded, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, p.certificate, &pem.Block{Type: "CERTIFICATE", Bytes: der})
	write(t, p.key, &pem.Block{Type: "PRIVATE KEY", Bytes: encoded})
	return p
}

func write(t *testing.T, path string, block *pem.Block) {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
}

// ours is the configuration of a server with our choice.
func ours(t *testing.T, standard pair, others []pair) *tls.Config {
	t.Helper()
	files := certs.Files{Certificate: standard.certificate, Key: standard.key}
	for _, p := range others {
		value := p.certificate + "," + p.key
		for i, pattern := range p.patterns {
			value += map[bool]string{true: ":", false: ","}[i == 0] + pattern
		}
		named, err := certs.ParseNamed(value)
		if err != nil {
			t.Fatal(err)
		}
		files.Named = append(files.Named, named)
	}
	given, err := certs.ReadGiven(files)
	if err != nil {
		t.Fatal(err)
	}
	keeper, err := certs.Open(certs.Options{Dir: t.TempDir(), Given: given, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	return &tls.Config{GetCertificate: keeper.GetCertificate}
}

// theirs is the configuration of a server with the choice of k8s.io/apiserver.
func theirs(t *testing.T, standard pair, others []pair) *tls.Config {
	t.Helper()
	content, err := dynamiccertificates.NewDynamicServingContentFromFiles("serving", standard.certificate, standard.key)
	if err != nil {
		t.Fatal(err)
	}
	var named []dynamiccertificates.SNICertKeyContentProvider
	for _, p := range others {
		n, err := dynamiccertificates.NewDynamicSNIContentFromFiles("sni", p.certificate, p.key, p.patterns...)
		if err != nil {
			t.Fatal(err)
		}
		named = append(named, n)
	}
	controller := dynamiccertificates.NewDynamicServingCertificateController(
		&tls.Config{}, nil, content, named, nil)
	if err := controller.RunOnce(); err != nil {
		t.Fatal(err)
	}
	return &tls.Config{GetConfigForClient: controller.GetConfigForClient}
}

// shown returns the certificate that a server shows to a client that asks for a name.
func shown(t *testing.T, config *tls.Config, name string) *x509.Certificate {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ended := make(chan error, 1)
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			err = tls.Server(conn, config).HandshakeContext(context.Background())
			conn.Close()
		}
		ended <- err
	}()
	conn, err := tls.Dial("tcp", listener.Addr().String(), &tls.Config{ServerName: name, InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	return conn.ConnectionState().PeerCertificates[0]
}

// Random sets of certificates and patterns, and every name that a client may ask for: both servers show the same
// certificate. Where no name fits, k8s.io/apiserver takes any certificate that is good for the client, in the order of
// a Go map.
func TestChoiceOfCertificates(t *testing.T) {
	random := mathrand.New(mathrand.NewPCG(7, 7))
	some := func(most int) []string {
		var chosen []string
		for range random.IntN(most + 1) {
			chosen = append(chosen, names[random.IntN(len(names))])
		}
		return chosen
	}
	for set := range 100 {
		dir := t.TempDir()
		standard := newPair(t, dir, "standard", []string{"localhost"})
		var others []pair
		for i := range 1 + random.IntN(4) {
			p := newPair(t, dir, fmt.Sprintf("n%d.com", i), some(3))
			if p.patterns = some(3); random.IntN(8) == 0 {
				p.patterns = append(p.patterns, "127.0.0.1")
			}
			others = append(others, p)
		}
		our, their := ours(t, standard, others), theirs(t, standard, others)
		for _, name := range append([]string{"", "n0.com", "n1.com", "nobody.com", "A.com"}, names...) {
			if name == "*" || len(name) > 1 && name[0] == '*' {
				continue // no client asks for a pattern
			}
			a, b := shown(t, our, name), shown(t, their, name)
			if !a.Equal(b) && (name == "" || a.VerifyHostname(name) != nil || b.VerifyHostname(name) != nil) {
				t.Errorf("set %d, %q: we show %s, k8s.io/apiserver shows %s", set, name, a.Subject, b.Subject)
				for _, p := range others {
					t.Logf("%s %v: %v", p.leaf.Subject, p.leaf.DNSNames, p.patterns)
				}
			}
		}
	}
}
