// Package certificates serves the group certificates.k8s.io: certificate signing requests. Who approves and who signs
// them may do so is for the plug-ins of package builtin/plugins to say. It may know the packages that serve groups.
package certificates

import (
	"apigen.dev/runtime/builtin/certificates/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves certificate signing requests. Nothing in the server approves or signs them.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group()}
}
