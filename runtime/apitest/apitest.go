// Package apitest runs an API server inside a test: the server of production, over TLS on a loopback port, with storage
// in memory. It ends with the test.
//
//	server := apitest.Start(t, apis.Groups()...)
//	config, err := clientcmd.RESTConfigFromKubeConfig(server.Kubeconfig)
//
// The package doesn't import client-go; a test that uses it adds the dependency itself. It may know packages auth,
// registry, server, storage and storage/memory.
package apitest

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/storage/memory"
)

// Server is a running API server. Its fields are constant.
type Server struct {
	// URL is the address of the server: https://127.0.0.1:port.
	URL string
	// CA is the certificate authority of the server, in PEM.
	CA []byte
	// Token is the bearer token of an administrator.
	Token string
	// Kubeconfig has URL, CA and Token in the format that clientcmd.RESTConfigFromKubeConfig and kubectl read.
	Kubeconfig []byte
	// Client is an HTTP client with CA and Token.
	Client *http.Client
}

// Start starts a server for groups, and stops it when the test ends. The server logs to the test's log.
func Start(t testing.TB, groups ...registry.Group) *Server {
	t.Helper()
	certificate, authority := selfSigned(t)
	listener, err := listen()
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	token, tokens := rand.Text(), new(auth.Tokens)
	tokens.Add(token, &auth.User{Name: "apitest:admin", Groups: []string{auth.Masters}})
	backend := memory.New()
	running, err := server.New(t.Context(), server.Config{
		Groups: groups, Backend: backend, Listener: listener, Certificate: certificate, Authenticator: tokens,
		Log: slog.New(slog.NewTextHandler(testLog{t}, nil)), ShutdownTimeout: 10 * time.Second,
		Verify: true, CheckCache: time.Second,
	})
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	run(t, running, listener, backend)
	s := &Server{URL: running.URL(), CA: authority, Token: token, Client: client(authority, token)}
	s.Kubeconfig, err = server.Kubeconfig{Name: "apitest", Server: s.URL, CA: authority, Token: token}.YAML()
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	t.Cleanup(s.Client.CloseIdleConnections)
	return s
}

func run(t testing.TB, running *server.Server, listener *listener, backend storage.Backend) {
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- running.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		listener.closeConnections()
		if err := <-ended; err != nil {
			t.Errorf("apitest: the server ended with: %v", err)
		}
		if err := backend.Close(); err != nil {
			t.Errorf("apitest: the backend ended with: %v", err)
		}
	})
}

func selfSigned(t testing.TB) (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "apitest"},
		NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

func client(authority []byte, token string) *http.Client {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(authority)
	transport := &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, ForceAttemptHTTP2: true,
	}
	return &http.Client{Transport: bearer{token, transport}}
}

type bearer struct {
	token string
	*http.Transport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.token)
	return b.Transport.RoundTrip(r)
}

type testLog struct{ t testing.TB }

func (l testLog) Write(p []byte) (int, error) {
	l.t.Logf("%s", bytes.TrimSuffix(p, []byte("\n")))
	return len(p), nil
}
