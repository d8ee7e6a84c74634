// Package rbac serves the group rbac.authorization.k8s.io: roles and their bindings. It may know the packages that
// serve groups.
package rbac

import (
	"apigen.dev/runtime/builtin/rbac/wiring"
	"apigen.dev/runtime/server"
)

// Feature serves the group rbac.authorization.k8s.io. Authorization also decides by its objects.
func Feature() server.Feature {
	return server.Serving{wiring.Group()}
}
