// Package frontproxy believes a proxy that authenticates users: one that names them in headers of its requests, and
// proves by a client certificate that it is the proxy. kube-apiserver's aggregator is such a proxy.
//
// It may know packages auth, registry, reload and server.
package frontproxy

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/auth"
)

// Trust says which proxies are believed, and in which headers they name a user. It is immutable.
type Trust struct {
	// Certificates verifies the client certificates of proxies.
	Certificates *auth.Certificates
	// AllowedNames are the common names that these may have; without one, every name.
	AllowedNames []string
	Headers
}

// Headers are names of headers, in any case. The first of Username and of UID with a value is used, and all of Group
// and all that begin with one of ExtraPrefixes, whose rest is the percent-encoded key.
type Headers struct {
	Username, UID, Group, ExtraPrefixes []string
}

// Proxy authenticates by the headers of a proxy.
type Proxy struct {
	trust func() *Trust
}

var _ auth.Authenticator = (*Proxy)(nil)

// New returns an authenticator that believes whom trust names at the time of a request: nobody if it returns nil. Each
// of its values must have a Certificates of its own, so that a connection is verified once for each value.
func New(trust func() *Trust) *Proxy { return &Proxy{trust} }

// Authenticate implements auth.Authenticator. It removes the headers from the request, whoever sent them, so that no
// handler believes them.
func (p *Proxy) Authenticate(r *http.Request) (*auth.User, error) {
	trust := p.trust()
	if trust == nil {
		return nil, nil
	}
	defer trust.remove(r.Header)
	proxy, err := trust.Certificates.Authenticate(r)
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

// Authorities returns an authenticator of the certificates that the authorities in PEM signed. It ignores other blocks.
func Authorities(content []byte) (*auth.Certificates, error) {
	pool, found := x509.NewCertPool(), false
	for block, rest := pem.Decode(content); block != nil; block, rest = pem.Decode(rest) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		authority, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, err
		}
		pool.AddCert(authority)
		found = true
	}
	if !found {
		return nil, errors.New("it holds no certificate in PEM")
	}
	return auth.NewCertificates(pool), nil
}
