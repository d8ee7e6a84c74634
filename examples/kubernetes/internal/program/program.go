// Package program puts the server of the example together.
package program

import (
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/kubernetes/apis"
	"example.com/kubernetes/internal/admit"
	"example.com/kubernetes/internal/network"
)

// New returns the program: the groups of this project, the ready-made groups of apigen with all that acts on them,
// custom resources, and aggregation. Each call returns new values.
func New() server.Program {
	return server.Program{
		Name:   "kubernetes",
		Groups: apis.Groups(bindings{}, components{}),
		Features: append(builtin.Standalone(), &apiextensions.Feature{}, &apiregistration.Feature{},
			&network.Feature{}),
		Admission: admit.Plugins(),
		Embedded:  embedded.Etcd{},
	}
}
