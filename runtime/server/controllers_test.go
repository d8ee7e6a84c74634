package server

import (
	"context"
	"testing"

	"apigen.dev/runtime/auth"
)

// TestAuthorizerAllowsOwnRequests: nobody decides about what a server asks itself, except for what it asks as a user
// whom it impersonates. A client that has the name of a controller isn't the server.
func TestAuthorizerAllowsOwnRequests(t *testing.T) {
	authorizer := ownRequests{auth.Always(auth.Deny)}
	own := context.WithValue(t.Context(), internalKey{}, namespaceController)
	impostor := *namespaceController
	for name, test := range map[string]struct {
		ctx  context.Context
		user *auth.User
		want auth.Decision
	}{
		"its own":       {own, namespaceController, auth.Allow},
		"impersonating": {own, &auth.User{Name: "ann"}, auth.Deny},
		"a client":      {t.Context(), &impostor, auth.Deny},
	} {
		got, _, err := authorizer.Authorize(test.ctx, auth.Attributes{User: test.user})
		if got != test.want || err != nil {
			t.Errorf("%s: %v, error %v", name, got, err)
		}
	}
}
