package snippets

import (
	"context"
	"fmt"

	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Resolving runs a server that finds webhooks behind services by names of its own.
func Resolving(groups []registry.Group) {
	server.Main(server.Program{
		Name:     "shop",
		Groups:   groups,
		Features: builtin.Standalone(),
		Services: func(_ context.Context, namespace, name string, port int32) (string, error) {
			return fmt.Sprintf("%s.%s.internal:%d", name, namespace, port), nil
		},
	})
}
