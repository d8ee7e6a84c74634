// Package frontproxy believes a proxy that authenticates users: one that names them in headers of its requests, and
// proves by a client certificate that it is the proxy. kube-apiserver's aggregator is such a proxy.
//
// It may know packages auth, certs, registry, reload and server.
package frontproxy

import (
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
)

// Trust says which proxies are believed, and in which headers they name a user. It is immutable.
type Trust struct {
	// CA are the authorities of the proxies' client certificates, in PEM.
	CA []byte
	// AllowedNames are the common names that these may have; without one, every name.
	AllowedNames []string
	Headers

	roots *x509.CertPool // those in CA
}

// NewTrust believes proxies whose certificates have one of the names, and are signed by one of the authorities in PEM.
func NewTrust(ca []byte, names []string, headers Headers) (*Trust, error) {
	roots, err := certs.ParseAuthorities(ca)
	if err != nil {
		return nil, err
	}
	return &Trust{ca, names, headers, roots}, nil
}

// Headers are names of headers, in any case. The first of Username and of UID with a value is used, and all of Group
// and all that begin with one of ExtraPrefixes, whose rest is the percent-encoded key.
type Headers struct {
	Username, UID, Group, ExtraPrefixes []string
}

// Proxy authenticates by the headers of a proxy.
type Proxy struct {
	trust        func() *Trust
	certificates *auth.Certificates
	published    bool // for other servers alone
	further      further
}

var _ auth.Authenticator = (*Proxy)(nil)

// New returns an authenticator that believes whom trust names at the time of a request: nobody if it returns nil. A
// connection is verified once for each of its values.
func New(trust func() *Trust) *Proxy {
	return &Proxy{trust: trust, certificates: auth.NewCertificates(nil)}
}

// Published returns an authenticator that believes nobody. It has the trust that a server publishes to others for the
// requests that it sends them as a front proxy: its own requests don't come back to it.
func Published(trust *Trust) *Proxy {
	return &Proxy{trust: func() *Trust { return trust }, published: true}
}

// Trust returns whom the proxy authenticator believes now, or has others believe, or nil.
func (p *Proxy) Trust() *Trust { return p.trust() }

// Remove makes Authenticate remove further headers from each request: those in which servers behind this one believe a
// user, because this server or a replica published them. It leaves headers whose names don't begin with X-, which HTTP
// itself may need, and takes 100 names at most. It is safe for concurrent use.
func (p *Proxy) Remove(headers Headers) { p.further.add(headers) }

// Authenticate implements auth.Authenticator. It removes the headers from the request, whoever sent them, so that no
// handler believes them.
func (p *Proxy) Authenticate(r *http.Request) (*auth.User, error) {
	defer p.further.remove(r.Header)
	trust := p.trust()
	if trust == nil {
		return nil, nil
	}
	defer trust.remove(r.Header)
	if p.published {
		return nil, nil
	}
	proxy, err := p.certificates.AuthenticateBy(r, trust.roots)
	if proxy == nil || err != nil {
		return nil, err
	}
	if len(trust.AllowedNames) > 0 && !slices.Contains(trust.AllowedNames, proxy.Name) {
		return nil, fmt.Errorf("x509: subject with cn=%s is not in the allowed list", proxy.Name)
	}
	return trust.user(r.Header), nil
}

// user returns the user that the headers name, or nil.
func (h *Headers) user(header http.Header) *auth.User {
	name := first(header, h.Username)
	if name == "" {
		return nil
	}
	user := &auth.User{Name: name, UID: first(header, h.UID), Extra: h.extra(header)}
	for _, group := range h.Group {
		for _, value := range header.Values(group) {
			if value != "" {
				user.Groups = append(user.Groups, value)
			}
		}
	}
	return user
}

func first(header http.Header, names []string) string {
	for _, name := range names {
		if value := header.Get(name); value != "" {
			return value
		}
	}
	return ""
}

func (h *Headers) extra(header http.Header) map[string][]string {
	var extra map[string][]string
	for _, prefix := range h.ExtraPrefixes {
		for _, name := range slices.Sorted(maps.Keys(header)) {
			if !hasPrefix(name, prefix) {
				continue
			}
			key := strings.ToLower(name[len(prefix):])
			if decoded, err := url.PathUnescape(key); err == nil {
				key = decoded
			}
			if extra == nil {
				extra = map[string][]string{}
			}
			extra[key] = append(extra[key], header[name]...)
		}
	}
	return extra
}

// remove deletes all headers that could name a user.
func (h *Headers) remove(header http.Header) {
	for _, names := range [][]string{h.Username, h.UID, h.Group} {
		for _, name := range names {
			header.Del(name)
		}
	}
	for _, prefix := range h.ExtraPrefixes {
		for name := range header {
			if hasPrefix(name, prefix) {
				delete(header, name)
			}
		}
	}
}

func hasPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
