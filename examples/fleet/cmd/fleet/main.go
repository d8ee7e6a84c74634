// Command fleet serves the API groups of this project to Kubernetes clients. Its --help lists the flags.
package main

import (
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"

	"example.com/fleet/apis"
	"example.com/fleet/internal/harbour"
)

func main() {
	tides := new(harbour.Tides)
	tides.Set("default", "hamburg", 320)
	tides.Set("default", "husum", 140)
	groups := apis.Groups(new(harbour.Moorings), harbour.Pilot{Tides: tides}, tides)
	server.Main(server.Program{Name: "fleet", Groups: groups, Embedded: embedded.Etcd{}})
}
