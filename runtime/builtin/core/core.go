// Package core serves the kinds of the core group that every server can use: config maps, events, limit ranges,
// namespaces, resource quotas, secrets and service accounts. It may know the packages that serve groups.
package core

import (
	"apigen.dev/runtime/builtin/core/wiring"
	"apigen.dev/runtime/server"
)

// Feature serves config maps, events, limit ranges, namespaces, resource quotas, secrets and service accounts. What
// acts on them are features of their own: admission/lifecycle empties namespaces, admission/quota keeps quotas.
func Feature() server.Feature {
	return server.Serving{wiring.Group()}
}
