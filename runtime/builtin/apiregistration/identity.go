package apiregistration

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/reload"
)

// getCertificate returns the client certificate that is in force.
type getCertificate = func() (*tls.Certificate, error)

// givenIdentity reads a certificate and its key from files, and again when these change.
func givenIdentity(certificateFile, keyFile string, log *slog.Logger) (getCertificate, error) {
	files, err := reload.Open(log, func(contents [][]byte) (*tls.Certificate, error) {
		pair, err := tls.X509KeyPair(contents[0], contents[1])
		return &pair, err
	}, certificateFile, keyFile)
	if err != nil {
		return nil, fmt.Errorf("--proxy-client-cert-file: %w", err)
	}
	return func() (*tls.Certificate, error) { return files.Get(), nil }, nil
}

const (
	// proxyName is the common name of the certificate that a server makes for itself as a front proxy.
	proxyName = "front-proxy-client"
	// proxyTTL is how long the certificate lives. It is renewed when half of it is over.
	proxyTTL = 30 * 24 * time.Hour
)

// ownIdentity is a certificate that the server makes, in memory, and its authority, which is in a directory so that
// those who believe it believe it after a restart.
type ownIdentity struct {
	authority *certs.Authority
	now       func() time.Time

	mu      sync.Mutex // guards the fields below
	current *tls.Certificate
	renewal time.Time
}

func newOwnIdentity(dir string, now func() time.Time) (*ownIdentity, error) {
	authority, err := certs.MakeAuthority(dir, now)
	if err != nil {
		return nil, fmt.Errorf("the authority of the front proxy in %s: %w", dir, err)
	}
	return &ownIdentity{authority: authority, now: now}, nil
}

func (o *ownIdentity) get() (*tls.Certificate, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.current != nil && o.now().Before(o.renewal) {
		return o.current, nil
	}
	made, err := o.authority.Client(certs.Client{User: proxyName, TTL: proxyTTL})
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(made.Certificate, made.Key)
	if err != nil {
		return nil, err
	}
	o.current, o.renewal = &pair, o.now().Add(proxyTTL/2)
	return o.current, nil
}
