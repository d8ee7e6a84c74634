// Package authentication answers the group authentication.k8s.io: reviews of tokens, and of the user who asks. It may
// know package auth and the packages that serve groups.
package authentication

import (
	"apigen.dev/runtime/builtin/authentication/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group authentication.k8s.io.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group(selfSubjectReviews{}, tokenReviews{})}
}
