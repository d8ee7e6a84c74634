// Package coordination serves the group coordination.k8s.io: leases. It may know the packages that serve groups.
package coordination

import (
	"apigen.dev/runtime/builtin/coordination/wiring"
	"apigen.dev/runtime/server"
)

// Feature serves the group coordination.k8s.io.
func Feature() server.Feature {
	return server.Serving{wiring.Group()}
}
