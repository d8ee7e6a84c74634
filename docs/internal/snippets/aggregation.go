package snippets

import (
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
)

// Aggregator runs a server that others may stand behind.
func Aggregator(groups []registry.Group) {
	server.Main(server.Program{
		Name: "front", Groups: groups, Embedded: embedded.Etcd{},
		Features: append(builtin.Standalone(), &apiregistration.Feature{}),
	})
}
