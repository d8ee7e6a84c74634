// Package coordination serves the group coordination.k8s.io: leases. It may know the packages that serve groups.
package coordination

import (
	"apigen.dev/runtime/builtin/coordination/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group coordination.k8s.io.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group()}
}
