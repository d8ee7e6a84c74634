package server

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"crypto/tls"
	"net/http"
	"sync"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/host/certs"
	"apigen.dev/runtime/internal/http/loopback"
)

// Loopback leads from a hook to the server in whose process it runs, with the rights of system:masters, under the name
// system:apiserver. Requests pass all filters, as those of other clients. It needs no port and no certificate file. For
// client-go it is
//
//	rest.Config{Host: loopback.Host, Transport: loopback.Transport, QPS: -1}
//
// and for a library that wants a file, Kubeconfig.
type Loopback struct {
	// Host is the URL of the server.
	Host string
	// Transport calls the server without network: see package loopback. It serves no protocols that take over a
	// connection (exec, port-forward); their clients use Kubeconfig.
	Transport http.RoundTripper

	secret secret
}

type loopbackKey struct{}

// LoopbackFrom returns the Loopback that the context of a hook carries. Other contexts carry none, and it returns nil.
func LoopbackFrom(ctx context.Context) *Loopback {
	l, _ := ctx.Value(loopbackKey{}).(*Loopback)
	return l
}

// Kubeconfig returns a kubeconfig with the address of the server, and a random token that only this process knows and
// that ends with the process. It trusts a certificate that the server shows only to clients of the kubeconfig, so that
// it works whatever certificate the server has. The server accepts no such token before the first call.
func (l *Loopback) Kubeconfig() ([]byte, error) {
	if err := l.secret.make(); err != nil {
		return nil, err
	}
	return Kubeconfig{
		Name: "loopback", Server: l.Host, ServerName: loopbackName, CA: l.secret.authority, Token: l.secret.token,
	}.YAML()
}

// RoundTrip implements http.RoundTripper, by Transport.
func (l *Loopback) RoundTrip(r *http.Request) (*http.Response, error) {
	return l.Transport.RoundTrip(r)
}

// connect leads the loopback to a server whose handler is complete.
func (l *Loopback) connect(s *Server) {
	l.Host = s.URL()
	l.Transport = loopback.Transport{
		Handler: s.http.Handler, Context: context.WithValue(s.base, internalKey{}, systemUser),
	}
	s.http.TLSConfig.GetCertificate = l.secret.getCertificate(s.http.TLSConfig.GetCertificate)
}

// hookContext is the context of hooks.
func (s *Server) hookContext() context.Context {
	return context.WithValue(auth.WithUser(s.base, systemUser), loopbackKey{}, s.loopback)
}

// authentication is that of the configuration, and knows the token of the loopback.
func (s *Server) authentication() auth.Authentication {
	all := s.config.Authentication
	all.Tokens = append([]auth.TokenAuthenticator{&s.loopback.secret}, all.Tokens...)
	return all
}

// internalKey is the key of the user of a request that came through Loopback.Transport. Requests from the network can't
// have it in their context.
type internalKey struct{}

// internal authenticates requests of Loopback.Transport, whatever their headers say, and asks others for the rest.
type internal struct{ others auth.Authenticator }

// Authenticate implements auth.Authenticator.
func (i internal) Authenticate(r *http.Request) (*auth.User, error) {
	if user, ok := r.Context().Value(internalKey{}).(*auth.User); ok {
		return user, nil
	}
	return i.others.Authenticate(r)
}

// loopbackName is the server name by which clients of Loopback.Kubeconfig ask for its certificate, as in
// kube-apiserver.
const loopbackName = "apiserver-loopback-client"

// secret is what Loopback.Kubeconfig has made: a token, and a certificate that is its own authority.
type secret struct {
	mu          sync.Mutex // guards the fields, which are constant once token isn't empty
	token       string
	certificate *tls.Certificate
	authority   []byte
}

func (s *secret) make() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.token != "" {
		return nil
	}
	var err error
	if s.certificate, s.authority, err = certs.SelfSigned(loopbackName); err != nil {
		return err
	}
	s.token = rand.Text()
	return nil
}

func (s *secret) read() (token string, certificate *tls.Certificate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.token, s.certificate
}

// AuthenticateToken implements auth.TokenAuthenticator.
func (s *secret) AuthenticateToken(_ context.Context, token string, audiences []string) (*auth.Identity, error) {
	known, _ := s.read()
	if known == "" || subtle.ConstantTimeCompare([]byte(token), []byte(known)) == 0 {
		return nil, nil
	}
	return &auth.Identity{User: systemUser, Audiences: audiences}, nil
}

// getCertificate returns the certificate for clients of the kubeconfig, and those of others for other clients.
func (s *secret) getCertificate(others func(*tls.ClientHelloInfo) (*tls.Certificate, error),
) func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		if hello.ServerName == loopbackName {
			if _, certificate := s.read(); certificate != nil {
				return certificate, nil
			}
		}
		if others == nil {
			return nil, nil // the server's only certificate
		}
		return others(hello)
	}
}
