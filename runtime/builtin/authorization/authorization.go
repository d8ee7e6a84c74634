// Package authorization answers the group authorization.k8s.io: reviews of what users may do. It may know packages
// auth and request, and the packages that serve groups.
package authorization

import (
	"apigen.dev/runtime/builtin/authorization/wiring"
	"apigen.dev/runtime/server"
)

// Feature serves the group authorization.k8s.io.
func Feature() server.Feature {
	return server.Serving{wiring.Group(localAccessReviews{}, selfAccessReviews{}, rulesReviews{}, accessReviews{})}
}
