// Package authorization answers the group authorization.k8s.io: reviews of what users may do. It may know packages
// auth and request, and the packages that serve groups.
package authorization

import (
	"apigen.dev/runtime/builtin/authorization/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group authorization.k8s.io.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group(localAccessReviews{}, selfAccessReviews{}, rulesReviews{}, accessReviews{})}
}
