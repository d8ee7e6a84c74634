// Command controlplane is a control plane without pods: an API server for custom resources and for other servers behind
// it, with everything that it governs itself by, and no kinds of its own. Its --help lists the flags.
package main

import (
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/builtin/apiextensions"
	"apigen.dev/runtime/builtin/apiregistration"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
)

func main() {
	server.Main(server.Program{
		Name:     "controlplane",
		Features: append(builtin.Standalone(), &apiextensions.Feature{}, &apiregistration.Feature{}),
		Embedded: embedded.Etcd{},
	})
}
