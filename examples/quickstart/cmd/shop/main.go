// Command shop serves the API groups of this project to Kubernetes clients. See --help.
package main

import (
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/shop/apis"
)

func main() {
	server.Main(server.Program{
		Name:   "shop",
		Groups: apis.Groups(),
		// Without this line the binary carries no etcd of its own, and needs --etcd-servers.
		Embedded: embedded.Etcd{},
	})
}
