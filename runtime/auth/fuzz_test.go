package auth

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// seen is a TokenAuthenticator that knows every token, and remembers the last one.
type seen struct{ token string }

func (s *seen) AuthenticateToken(_ context.Context, token string, _ []string) (*Identity, error) {
	s.token = token
	return &Identity{User: &User{Name: "u"}}, nil
}

// FuzzCredentials reads the tokens of headers of any form: a token is not empty, one with a space is none of the
// Authorization header, and no token stays among the protocols, one of which the server sends back.
func FuzzCredentials(f *testing.F) {
	f.Add("Bearer t", "", "", "")
	f.Add("bearer  t x", "websocket", "keep-alive, Upgrade", tokenProtocol+"dA, v4.channel.k8s.io")
	f.Add("Basic dTpw", "WebSocket", "upgrade", tokenProtocol+"dA,"+tokenProtocol+"dA, x")
	f.Add("", "websocket", "Upgrade", tokenProtocol+"d=,x")
	f.Fuzz(func(t *testing.T, authorization, upgrade, connection, protocols string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.Header = http.Header{
			"Authorization": {authorization}, "Upgrade": {upgrade}, "Connection": {connection},
			protocolHeader: {protocols},
		}
		authenticator := &seen{}
		user, err := Bearer{authenticator}.Authenticate(r)
		if (user != nil) != (authenticator.token != "") || user != nil && err != nil {
			t.Errorf("user %v, token %q, %v", user, authenticator.token, err)
		}
		scheme, rest, _ := strings.Cut(strings.TrimSpace(authorization), " ")
		if strings.EqualFold(scheme, "Bearer") && rest != "" && rest[0] != ' ' {
			if user == nil || strings.Contains(authenticator.token, " ") {
				t.Errorf("user %v, token %q", user, authenticator.token)
			}
			return
		}
		if user != nil && strings.Contains(r.Header.Get(protocolHeader), tokenProtocol) {
			t.Errorf("the server would send back one of %q", r.Header.Get(protocolHeader))
		}
	})
}
