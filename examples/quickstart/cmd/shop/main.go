// Command shop serves the API groups of this project to Kubernetes clients. Its --help lists the flags.
package main

import (
	"apigen.dev/runtime/builtin"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/shop/apis"
)

func main() {
	server.Main(server.Program{
		Name:   "shop",
		Groups: apis.Groups(),
		// This line adds what a server governs itself with: roles, namespaces, quotas, policies, webhooks, accounts.
		Features: builtin.Standalone(),
		// This line links an etcd into the binary. Without it the server needs --etcd-servers.
		Embedded: embedded.Etcd{},
	})
}
