package certs

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/testbed"
)

// clock is a clock that tests move.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func newClock() *clock { return &clock{now: time.Now()} }

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// logs collects what is logged.
type logs struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// take returns what was logged since the last call.
func (l *logs) take() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.text.Reset()
	return l.text.String()
}

// open opens a keeper over a directory, with a clock and logs.
func open(t *testing.T, options Options) (*Keeper, *clock, *logs) {
	t.Helper()
	return openAt(t, newClock(), options)
}

func openAt(t *testing.T, c *clock, options Options) (*Keeper, *clock, *logs) {
	t.Helper()
	log := new(logs)
	if options.Dir == "" {
		options.Dir = filepath.Join(t.TempDir(), "pki")
	}
	options.Names = append(options.Names, "localhost", "127.0.0.1")
	options.Now, options.Log = c.Now, slog.New(slog.NewTextHandler(log, nil))
	k, err := Open(options)
	if err != nil {
		t.Fatal(err)
	}
	return k, c, log
}

// served is a server with a keeper's certificates. It answers with the name of the user.
type served struct {
	*Keeper
	t       *testing.T
	address string
	users   *auth.Certificates
	closed  chan net.Conn
}

func serve(t *testing.T, k *Keeper) *served {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{k, t, listener.Addr().String(), auth.NewCertificates(k.State().Roots), make(chan net.Conn, 100)}
	server := &http.Server{
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, err := s.users.Authenticate(r)
			if err != nil {
				http.Error(w, err.Error(), http.StatusUnauthorized)
				return
			}
			if user != nil {
				fmt.Fprint(w, user.Name)
			}
		}),
		ConnContext: auth.ConnContext,
		ConnState: func(conn net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				s.closed <- conn
			}
		},
		TLSConfig: &tls.Config{GetCertificate: k.GetCertificate, ClientAuth: tls.RequestClientCert,
			MinVersion: tls.VersionTLS12, NextProtos: []string{"h2", "http/1.1"}},
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
	}
	ended := make(chan error, 1)
	go func() { ended <- server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() {
		server.Close()
		<-ended
	})
	return s
}

// sync takes changes, as Follow does.
func (s *served) sync() bool {
	state, changed := s.Sync()
	if changed {
		s.users.Trust(state.Roots)
	}
	return changed
}

// client is a client that trusts PEM certificates and has a certificate of its own, if pair has one.
func (s *served) client(trust []byte, pair Pair, http2 bool) *client {
	s.t.Helper()
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(trust)
	config := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	if pair.Certificate != nil {
		own, err := tls.X509KeyPair(pair.Certificate, pair.Key)
		if err != nil {
			s.t.Fatal(err)
		}
		config.Certificates = []tls.Certificate{own}
	}
	transport := &http.Transport{TLSClientConfig: config, ForceAttemptHTTP2: http2}
	if !http2 {
		transport.TLSNextProto = map[string]func(string, *tls.Conn) http.RoundTripper{}
	}
	c := &client{http: &http.Client{Transport: transport}, url: "https://" + s.address}
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		c.mu.Lock()
		c.dials++
		c.mu.Unlock()
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	s.t.Cleanup(transport.CloseIdleConnections)
	return c
}

type client struct {
	http  *http.Client
	url   string
	mu    sync.Mutex
	dials int
}

// get returns the code, the text, and the serving certificate of the connection.
func (c *client) get() (code int, text string, cert *x509.Certificate, err error) {
	response, err := c.http.Get(c.url)
	if err != nil {
		return 0, "", nil, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, string(body), response.TLS.PeerCertificates[0], err
}

func (c *client) connections() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.dials
}

// want fails the test unless the answer is code, of the user.
func (c *client) want(t *testing.T, code int, user string) *x509.Certificate {
	t.Helper()
	got, text, cert, err := c.get()
	if err != nil || got != code || code == http.StatusOK && text != user {
		t.Errorf("%d %q (%v), want %d %q", got, text, err, code, user)
	}
	return cert
}

// issuer is an authority of somebody else.
type issuer struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	now  time.Time
}

func newIssuer(t *testing.T, name string) issuer {
	t.Helper()
	key := newKey(t)
	template := certificate(pkix.Name{CommonName: name}, time.Now(), 365*24*time.Hour)
	template.IsCA, template.BasicConstraintsValid, template.KeyUsage = true, true, x509.KeyUsageCertSign
	cert, err := create(template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return issuer{cert, key, time.Now()}
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (i issuer) pem() []byte { return encodeCertificates([]*x509.Certificate{i.cert}) }

// issue makes a certificate for a common name, and names and addresses.
func (i issuer) issue(t *testing.T, common string, names ...string) Pair {
	t.Helper()
	l := serving(names)
	template := certificate(pkix.Name{CommonName: common}, i.now, 24*time.Hour)
	template.DNSNames, template.IPAddresses = l.dns, l.ips
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	key := newKey(t)
	cert, err := create(template, i.cert, key.Public(), i.key)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := encodeKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return Pair{encodeCertificates([]*x509.Certificate{cert}), encoded}
}

// writePair writes a pair to the files <dir>/<name>.crt and .key.
func writePair(t *testing.T, dir, name string, pair Pair) (certificate, key string) {
	t.Helper()
	certificate, key = filepath.Join(dir, name+".crt"), filepath.Join(dir, name+".key")
	testbed.Write(t, key, pair.Key)
	testbed.Write(t, certificate, pair.Certificate)
	return certificate, key
}

func readGiven(t *testing.T, files Files) *Given {
	t.Helper()
	given, err := ReadGiven(files)
	if err != nil {
		t.Fatal(err)
	}
	return given
}

func mustContain(t *testing.T, text string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %q", want, text)
		}
	}
}
