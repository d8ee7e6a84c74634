// Package auth has users, authenticators, which find the user of a request, and authorizers, which decide what a user
// may do. It may know package request, and of HTTP a request's headers and its connection.
package auth

import (
	"context"
	"net/http"
	"slices"
	"strings"

	"apigen.dev/runtime/request"
)

// User is the user who sends a request. It is immutable.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// The names that kube-apiserver gives to users and groups.
const (
	Anonymous       = "system:anonymous"
	Unauthenticated = "system:unauthenticated"
	Authenticated   = "system:authenticated"
	Masters         = "system:masters"
)

// Authenticator finds the user of a request. It returns nil without an error if the request has no credentials of its
// kind, and an error if the credentials are wrong.
type Authenticator interface {
	Authenticate(r *http.Request) (*User, error)
}

// Attributes are what an authorizer decides on: a user, and what the user asks for. The Info comes from an HTTP
// request, or from code that asks for a permission without one, such as impersonation. Both are immutable.
type Attributes struct {
	User *User
	*request.Info
}

// Decision is the answer of an authorizer.
type Decision int

// With NoOpinion the next authorizer decides. If no authorizer has an opinion, the server denies the request.
const (
	NoOpinion Decision = iota
	Allow
	Deny
)

// Authorizer decides whether a user may do something. The server shows the reason to the user.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (decision Decision, reason string, err error)
}

type userKey struct{}

// WithUser returns a context that carries the user who sends the request.
func WithUser(ctx context.Context, user *User) context.Context {
	return context.WithValue(ctx, userKey{}, user)
}

// UserFrom returns the user that ctx carries, or nil.
func UserFrom(ctx context.Context) *User {
	user, _ := ctx.Value(userKey{}).(*User)
	return user
}

// First asks authenticators in order, and returns the first user that one of them finds. If none finds one, First
// returns the first error.
type First []Authenticator

// Authenticate implements Authenticator.
func (f First) Authenticate(r *http.Request) (*User, error) {
	var failure error
	for _, a := range f {
		user, err := a.Authenticate(r)
		if user != nil && err == nil {
			return user, nil
		}
		if err != nil && failure == nil {
			failure = err
		}
	}
	return nil, failure
}

// MastersOnly allows the group system:masters everything, and has no opinion on other users, whom the server therefore
// denies everything. It is the server's authorizer as long as no other is configured.
type MastersOnly struct{}

// Authorize implements Authorizer.
func (MastersOnly) Authorize(_ context.Context, a Attributes) (Decision, string, error) {
	if a.User != nil && slices.Contains(a.User.Groups, Masters) {
		return Allow, "", nil
	}
	return NoOpinion, "", nil
}

// Discovery allows authenticated users to read the documents of discovery, OpenAPI and the version, as kube-apiserver
// does. Next decides about everything else.
type Discovery struct{ Next Authorizer }

// discoveryPaths are the paths of the documents. A path that ends in a slash stands for all paths below it.
var discoveryPaths = []string{"/api", "/api/", "/apis", "/apis/", "/openapi", "/openapi/", "/version", "/version/"}

// Authorize implements Authorizer.
func (d Discovery) Authorize(ctx context.Context, a Attributes) (Decision, string, error) {
	authenticated := a.User != nil && slices.Contains(a.User.Groups, Authenticated)
	known := slices.ContainsFunc(discoveryPaths, func(path string) bool {
		return a.Path == path || strings.HasSuffix(path, "/") && strings.HasPrefix(a.Path, path)
	})
	if authenticated && !a.IsResource && a.Verb == "get" && known {
		return Allow, "", nil
	}
	return d.Next.Authorize(ctx, a)
}
