// Package auth has users, authenticators, which find the user of a request, and authorizers, which decide what a user
// may do. It may know package request, and of HTTP a request's headers and its connection.
package auth

import "context"

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

// CredentialID is the key of User.Extra that identifies the credential by which a user was authenticated, so that a
// record of audit leads to it: X509SHA256=... for a certificate, JTI=... for a token.
const CredentialID = "authentication.kubernetes.io/credential-id"

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
