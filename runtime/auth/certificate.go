package auth

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// Certificates authenticates by the client certificate of a TLS connection: the common name is the user, the
// organizations are the groups. It verifies a chain once per connection and set of roots, not once per request, and
// checks the expiry for each request.
type Certificates struct {
	roots atomic.Pointer[x509.CertPool]
	now   func() time.Time
}

// NewCertificates accepts certificates that one of the roots signed for client authentication.
func NewCertificates(roots *x509.CertPool) *Certificates {
	c := &Certificates{now: time.Now}
	c.Trust(roots)
	return c
}

// Trust replaces the roots. They must not change afterwards; nil and an empty pool accept nobody. A request that comes
// after Trust has returned is judged by the new roots, also on a connection whose certificate the old ones accepted.
func (c *Certificates) Trust(roots *x509.CertPool) { c.roots.Store(roots) }

// connection caches the verdicts on a connection's client certificate: the latest of each Certificates that was asked.
type connection struct {
	mu       sync.Mutex // held while a chain is verified
	verdicts atomic.Pointer[verdict]
}

type verdict struct {
	by    *Certificates
	roots *x509.CertPool // those in force at the time
	user  *User
	until time.Time
	err   error
	next  *verdict
}

func (conn *connection) of(c *Certificates, roots *x509.CertPool) *verdict {
	v := conn.verdicts.Load()
	for v != nil && (v.by != c || v.roots != roots) {
		v = v.next
	}
	return v
}

// keep adds a verdict in place of the earlier one of the same Certificates. The caller holds mu.
func (conn *connection) keep(v *verdict) {
	for old := conn.verdicts.Load(); old != nil; old = old.next {
		if old.by != v.by {
			other := *old
			other.next, v.next = v.next, &other
		}
	}
	conn.verdicts.Store(v)
}

type connectionKey struct{}

// ConnContext is for http.Server.ConnContext: it adds to the context of a connection the place where Certificates
// caches its verdict. Without it Certificates verifies the chain for every request.
func ConnContext(ctx context.Context, _ net.Conn) context.Context {
	return context.WithValue(ctx, connectionKey{}, new(connection))
}

// Authenticate implements Authenticator.
func (c *Certificates) Authenticate(r *http.Request) (*User, error) {
	return c.AuthenticateBy(r, c.roots.Load())
}

// AuthenticateBy is Authenticate with the roots of the caller, for one who changes them together with something else.
// Of all roots that a connection was judged by, it keeps the verdict of the last.
func (c *Certificates) AuthenticateBy(r *http.Request, roots *x509.CertPool) (*User, error) {
	if r.TLS == nil || len(r.TLS.PeerCertificates) == 0 {
		return nil, nil
	}
	conn, ok := r.Context().Value(connectionKey{}).(*connection)
	if !ok {
		conn = new(connection)
	}
	v := c.verdict(conn, r.TLS.PeerCertificates, roots)
	if v.err != nil {
		return nil, v.err
	}
	if c.now().After(v.until) {
		return nil, errors.New("the client certificate has expired")
	}
	return v.user, nil
}

// verdict verifies the chain of a connection, unless it has done so before with the same roots.
func (c *Certificates) verdict(conn *connection, peers []*x509.Certificate, roots *x509.CertPool) *verdict {
	if v := conn.of(c, roots); v != nil {
		return v
	}
	conn.mu.Lock()
	defer conn.mu.Unlock()
	if v := conn.of(c, roots); v != nil {
		return v
	}
	v := &verdict{by: c, roots: roots}
	v.user, v.until, v.err = c.verify(peers, roots)
	conn.keep(v)
	return v
}

// verify verifies a chain. It returns the user, and the time until which all certificates of one of its chains to a
// root are valid.
func (c *Certificates) verify(peers []*x509.Certificate, roots *x509.CertPool) (*User, time.Time, error) {
	if roots == nil {
		roots = x509.NewCertPool() // x509 takes nil for the roots of the system
	}
	intermediates := x509.NewCertPool()
	for _, cert := range peers[1:] {
		intermediates.AddCert(cert)
	}
	leaf := peers[0]
	chains, err := leaf.Verify(x509.VerifyOptions{
		Roots: roots, Intermediates: intermediates, CurrentTime: c.now(),
		KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, time.Time{}, fmt.Errorf("client certificate %q: %w", leaf.Subject.CommonName, err)
	}
	if leaf.Subject.CommonName == "" {
		return nil, time.Time{}, errors.New("the client certificate has no common name, which would be the user's")
	}
	var until time.Time
	for _, chain := range chains {
		if ends := endOf(chain); ends.After(until) {
			until = ends
		}
	}
	return &User{
		Name: leaf.Subject.CommonName, Groups: leaf.Subject.Organization,
		Extra: map[string][]string{CredentialID: {fmt.Sprintf("X509SHA256=%x", sha256.Sum256(leaf.Raw))}},
	}, until, nil
}

// endOf returns when the first certificate of a chain ends.
func endOf(chain []*x509.Certificate) time.Time {
	ends := chain[0].NotAfter
	for _, cert := range chain[1:] {
		if cert.NotAfter.Before(ends) {
			ends = cert.NotAfter
		}
	}
	return ends
}
