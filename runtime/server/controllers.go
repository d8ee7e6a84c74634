package server

import (
	"context"
	"net/http"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/loopback"
)

// The users as whom a server empties namespaces and collects garbage in other servers. They are those of
// kube-controller-manager, whose rights RBAC has from the start on, so that those servers know what they may do.
var (
	namespaceController = controllerUser("namespace-controller")
	garbageCollector    = controllerUser("generic-garbage-collector")
)

func controllerUser(account string) *auth.User {
	return &auth.User{
		Name: "system:serviceaccount:kube-system:" + account,
		Groups: []string{
			"system:serviceaccounts", "system:serviceaccounts:kube-system", auth.Authenticated,
		},
	}
}

// acting is a Loopback.Transport for requests as another user than that of the loopback.
type acting struct {
	server *Server
	user   *auth.User
}

// RoundTrip implements http.RoundTripper.
func (a acting) RoundTrip(r *http.Request) (*http.Response, error) {
	return loopback.Transport{
		Handler: a.server.http.Handler, Context: context.WithValue(a.server.base, internalKey{}, a.user),
	}.RoundTrip(r)
}

// ownRequests allows what this server asks itself, whoever it acts as, and leaves other requests to others, those in
// which it impersonates a user among them. What the server does of itself doesn't depend on who decides about its
// clients. Other servers decide by the user.
type ownRequests struct{ others auth.Authorizer }

// Authorize implements auth.Authorizer.
func (o ownRequests) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	if user, ok := ctx.Value(internalKey{}).(*auth.User); ok && user == a.User {
		return auth.Allow, "", nil
	}
	return o.others.Authorize(ctx, a)
}
