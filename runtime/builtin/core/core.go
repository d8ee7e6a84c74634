// Package core serves the kinds of the core group that every server can use: config maps, events, secrets and service
// accounts. It may know the packages that serve groups.
package core

import (
	"apigen.dev/runtime/builtin/core/wiring"
	"apigen.dev/runtime/server"
)

// Feature serves config maps, events, secrets and service accounts of the core group.
func Feature() server.Feature {
	return server.Serving{wiring.Group()}
}
