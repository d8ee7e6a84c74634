package auth

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"time"
)

// Authenticator finds the user of a request. It returns nil without an error if the request has no credentials of its
// kind, and an error if the credentials are wrong.
type Authenticator interface {
	Authenticate(r *http.Request) (*User, error)
}

// TokenAuthenticator finds the user of a bearer token. It returns nil without an error if the token is not of its kind,
// and an error if it is and isn't valid.
//
// audiences are those for which the token must be valid; nil stands for those of the server itself.
type TokenAuthenticator interface {
	AuthenticateToken(ctx context.Context, token string, audiences []string) (*Identity, error)
}

// Identity is what a token proves. It is immutable.
type Identity struct {
	User *User
	// Audiences are those of the audiences in question for which the token is valid; nil if the authenticator knows no
	// audiences.
	Audiences []string
	// Expires is when the token expires; zero if it doesn't, or if the authenticator doesn't know. It bounds how long
	// the identity may be remembered.
	Expires time.Time
	// Annotations are those that the records of audit of requests with the token have, by their keys.
	Annotations map[string]string
}

// Authentication finds the user of a request. It asks in kube-apiserver's order: the front proxy, client certificates,
// bearer tokens, and at last Anonymous. Fields that are nil are left out.
type Authentication struct {
	FrontProxy   Authenticator
	Certificates Authenticator
	// Tokens are asked in order for the user of a bearer token.
	Tokens []TokenAuthenticator
	// Anonymous returns the user of a request without credentials, or nil if it needs some.
	Anonymous func(r *http.Request) *User
}

// Authenticate implements Authenticator. It returns the first user that an authenticator finds. If none finds one, it
// returns the first error: wrong credentials don't make a request anonymous.
func (a Authentication) Authenticate(r *http.Request) (*User, error) {
	user, proxyErr := ask(a.FrontProxy, r)
	if user != nil {
		return user, nil
	}
	user, certificateErr := ask(a.Certificates, r)
	if user != nil {
		return user, nil
	}
	user, tokenErr := Bearer(a.Tokens).Authenticate(r)
	if user != nil {
		return user, nil
	}
	if err := cmp.Or(proxyErr, certificateErr, tokenErr); err != nil || a.Anonymous == nil {
		return nil, err
	}
	return a.Anonymous(r), nil
}

// ask returns the user that an authenticator finds, if there is one and it has no error.
func ask(authenticator Authenticator, r *http.Request) (*User, error) {
	if authenticator == nil {
		return nil, nil
	}
	user, err := authenticator.Authenticate(r)
	if err != nil {
		return nil, err
	}
	return user, nil
}

// Bearer authenticates by the bearer token of a request: that of the Authorization header, or that among the protocols
// of a WebSocket, since scripts in browsers can't set headers on these. It asks its authenticators in order, and
// refuses a token of which none knows a user.
type Bearer []TokenAuthenticator

// Authenticate implements Authenticator. It removes a token from the protocols of a WebSocket, since the server sends
// back one of them.
func (b Bearer) Authenticate(r *http.Request) (*User, error) {
	token := bearerToken(r)
	var protocols []string
	if token == "" {
		var err error
		if token, protocols, err = protocolToken(r); err != nil || token == "" {
			return nil, err
		}
	}
	identity, err := b.AuthenticateToken(r.Context(), token, nil)
	if err != nil {
		return nil, err
	}
	if identity == nil {
		return nil, errors.New("the bearer token is not known")
	}
	if protocols != nil {
		r.Header.Set(protocolHeader, strings.Join(protocols, ", "))
	}
	return identity.User, nil
}

// AuthenticateToken implements TokenAuthenticator: it returns the first identity that an authenticator finds, and if
// none finds one, all errors.
func (b Bearer) AuthenticateToken(ctx context.Context, token string, audiences []string) (*Identity, error) {
	var failures []error
	for _, authenticator := range b {
		identity, err := authenticator.AuthenticateToken(ctx, token, audiences)
		if err == nil && identity != nil {
			return identity, nil
		}
		failures = append(failures, err)
	}
	return nil, errors.Join(failures...)
}

// bearerToken reads the Authorization header as kube-apiserver does: one space is between the scheme and the token, and
// what follows a further space is ignored.
func bearerToken(r *http.Request) string {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	token, _, _ := strings.Cut(rest, " ")
	return token
}

const (
	protocolHeader = "Sec-Websocket-Protocol"
	//nolint:gosec // G101: what credentials begin with is none
	tokenProtocol = "base64url.bearer.authorization.k8s.io."
)

// protocolToken returns the token among a WebSocket's protocols, and the others, one of which is sent back.
func protocolToken(r *http.Request) (token string, others []string, err error) {
	if !opensWebSocket(r.Header) {
		return "", nil, nil
	}
	for _, header := range r.Header[protocolHeader] {
		for protocol := range strings.SplitSeq(header, ",") {
			protocol = strings.TrimSpace(protocol)
			encoded, isToken := strings.CutPrefix(protocol, tokenProtocol)
			if !isToken {
				others = append(others, protocol)
				continue
			}
			decoded, err := base64.RawURLEncoding.DecodeString(encoded)
			if err != nil || len(decoded) == 0 {
				return "", nil, errors.New("the protocol that bears a token is no base64url")
			}
			if token != "" {
				return "", nil, errors.New("two protocols bear a token")
			}
			token = string(decoded)
		}
	}
	if token != "" && len(others) == 0 {
		return "", nil, errors.New("beside the protocol that bears a token there is none to choose")
	}
	return token, others, nil
}

func opensWebSocket(header http.Header) bool {
	if !strings.EqualFold(header.Get("Upgrade"), "websocket") {
		return false
	}
	for option := range strings.SplitSeq(header.Get("Connection"), ",") {
		if strings.EqualFold(strings.TrimSpace(option), "upgrade") {
			return true
		}
	}
	return false
}
