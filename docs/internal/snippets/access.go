package snippets

import (
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/rbac"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Governed runs a server whose administrators give rights with roles and bindings.
func Governed(groups []registry.Group) {
	server.Main(server.Program{
		Name:     "shop",
		Groups:   groups,
		Features: []server.Feature{&rbac.Feature{}, &authorization.Feature{}},
	})
}
