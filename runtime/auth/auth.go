// Package auth says who sends a request and whether they may: users, authenticators and authorizers, and nothing of how
// HTTP carries them beyond a request's headers and its connection.
package auth

import (
	"context"
	"net/http"
)

// User is who sends a request. It is immutable.
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

// Authenticator finds the user of a request. It returns nil without an error where it has no opinion (no credentials of
// its kind), and an error where the credentials are wrong.
type Authenticator interface {
	Authenticate(r *http.Request) (*User, error)
}

// Attributes is what an authorizer decides on.
type Attributes struct {
	User *User
	// Verb is create, get, list, watch, update, patch, delete, deletecollection; or the lower-cased HTTP method where
	// the request is not for a resource.
	Verb        string
	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	Name        string
	// Resource requests name a resource; others only a Path.
	IsResource bool
	Path       string
}

// Decision is an authorizer's answer.
type Decision int

// NoOpinion lets the next authorizer decide; the last NoOpinion denies.
const (
	NoOpinion Decision = iota
	Allow
	Deny
)

// Authorizer decides. The reason is shown to the user.
type Authorizer interface {
	Authorize(ctx context.Context, a Attributes) (decision Decision, reason string, err error)
}
