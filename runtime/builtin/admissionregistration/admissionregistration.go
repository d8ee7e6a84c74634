// Package admissionregistration serves the group admissionregistration.k8s.io: admission policies, their bindings, and
// the configurations of webhooks. It may know the packages that serve groups.
package admissionregistration

import (
	"apigen.dev/runtime/builtin/admissionregistration/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group admissionregistration.k8s.io. The features of package builtin/policy and builtin/webhook
// also act on its objects.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group()}
}
