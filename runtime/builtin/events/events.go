// Package events serves the group events.k8s.io, whose events are those of the core group: a server needs the feature
// of package core, too. It may know the packages that serve groups.
package events

import (
	"apigen.dev/runtime/builtin/events/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group events.k8s.io.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group {
	return []registry.Group{wiring.Group()}
}
