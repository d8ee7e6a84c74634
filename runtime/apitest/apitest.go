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
	"sync"
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
	return StartWith(t, func(*server.Config) {}, groups...)
}

// StartWith is Start for a server whose configuration change has changed.
func StartWith(t testing.TB, change func(config *server.Config), groups ...registry.Group) *Server {
	t.Helper()
	certificate, authority := selfSigned()
	listener, err := listen()
	if err != nil {
		t.Fatalf("apitest: %v", err)
	}
	token, tokens := rand.Text(), new(auth.Tokens)
	tokens.Add(token, &auth.User{Name: "apitest:admin", Groups: []string{auth.Masters}})
	backend := memory.New()
	config := server.Config{
		Groups: groups, Log: slog.New(slog.NewTextHandler(testLog{t}, nil)),
		Storage: server.Storage{
			Backend: backend, Verify: true, CheckCache: time.Second, CompressCache: 200 * time.Millisecond,
		},
		Serving: server.Serving{Listener: listener, Certificate: certificate, ShutdownTimeout: 10 * time.Second},
		Contribution: server.Contribution{
			Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}},
		},
	}
	change(&config)
	running, err := server.New(t.Context(), config)
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

// selfSigned returns a certificate for 127.0.0.1 and localhost that is its own authority, and that in PEM. All servers
// of a process have it. Its key is ECDSA, which makes a handshake a tenth as costly for the server as with RSA.
var selfSigned = sync.OnceValues(func() (tls.Certificate, []byte) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err) // crypto/rand doesn't fail
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "apitest"}, DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		NotBefore:   time.Unix(0, 0), NotAfter: time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, IsCA: true, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err) // the template is constant
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key},
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
})

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

// listener keeps the connections that it accepted. A client with an idle HTTP/2 connection makes a graceful shutdown
// take a second, so a test closes the connections first.
type listener struct {
	net.Listener
	mu   sync.Mutex // guards open
	open map[net.Conn]struct{}
}

func listen() (*listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &listener{Listener: l, open: map[net.Conn]struct{}{}}, err
}

func (l *listener) Accept() (net.Conn, error) {
	inner, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c := &conn{Conn: inner, listener: l}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open[c] = struct{}{}
	return c, nil
}

func (l *listener) closeConnections() {
	l.mu.Lock()
	open := l.open
	l.open = map[net.Conn]struct{}{}
	l.mu.Unlock()
	for c := range open {
		_ = c.Close() // it may be closed already
	}
}

// conn is a connection that its listener forgets when it is closed.
type conn struct {
	net.Conn
	listener *listener
}

func (c *conn) Close() error {
	c.listener.mu.Lock()
	delete(c.listener.open, c)
	c.listener.mu.Unlock()
	return c.Conn.Close()
}
