// Command library serves the API groups of this project to Kubernetes clients. Its --help lists the flags.
package main

import (
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/library/apis"
)

func main() {
	server.Main(server.Program{Name: "library", Groups: apis.Groups(), Embedded: embedded.Etcd{}})
}
