// Command library serves the library's API, and runs its hooks in the same process.
package main

import (
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/library/apis"
	"example.com/library/controller"
)

func main() {
	server.Main(server.Program{
		Name: "library", Groups: apis.Groups(), Embedded: embedded.Etcd{},
		Hooks: []server.Hook{controller.HouseRules(), controller.Hook()},
	})
}
