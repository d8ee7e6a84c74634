// Package auth has users, authenticators, which find the user of a request, and authorizers, which decide what a user
// may do. It may know package request, and of HTTP a request's headers and its connection.
package auth

import (
	"context"
	"net/http"

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
