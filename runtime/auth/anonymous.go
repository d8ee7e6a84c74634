package auth

import (
	"net/http"
	"slices"
)

// AnonymousUser is the user of a request without credentials.
var AnonymousUser = &User{Name: Anonymous, Groups: []string{Unauthenticated}}

// AnonymousEverywhere is an Authentication.Anonymous that lets every request be anonymous: the authorizer decides.
func AnonymousEverywhere(*http.Request) *User { return AnonymousUser }

// AnonymousNowhere is an Authentication.Anonymous that lets no request be anonymous.
func AnonymousNowhere(*http.Request) *User { return nil }

// AnonymousAt returns an Authentication.Anonymous that lets requests with exactly these paths be anonymous.
func AnonymousAt(paths ...string) func(*http.Request) *User {
	return func(r *http.Request) *User {
		if slices.Contains(paths, r.URL.Path) {
			return AnonymousUser
		}
		return nil
	}
}
