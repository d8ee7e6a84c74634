// Package auth decides which user sends a request, and whether the user may: it has users, authenticators and
// authorizers. Of HTTP it knows a request's headers and its connection alone.
package auth

import (
	"context"
	"net/http"
)

// User is the user who sends a request. It is immutable.
type User struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// kube-apiserver's names of users and groups.
const (
	Anonymous       = "system:anonymous"
	Unauthenticated = "system:unauthenticated"
	Authenticated   = "system:authenticated"
	Masters         = "system:masters"
)

// Authenticator finds the user of a request. It returns nil without an error where the request has no credentials of
// its kind, and an error where the credentials are wrong.
type Authenticator interface {
	Authenticate(r *http.Request) (*User, error)
}

// Attributes are the properties of a request on which an authorizer decides.
type Attributes struct {
	User *User
	// Verb is create, get, list, watch, update, patch, delete or deletecollection; for a request without a resource it
	// is the HTTP method in lower case.
	Verb        string
	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	// IsResource says that the request names a resource; other requests have only a Path.
	IsResource bool
	Path       string
}

// Decision is an authorizer's answer.
type Decision int

// NoOpinion lets the next authorizer decide. Where no authorizer has an opinion, the server denies the request.
const (
	NoOpinion Decision = iota
	Allow
	Deny
)

// Authorizer decides whether a user may send a request. The server shows the reason to the user.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (decision Decision, reason string, err error)
}
