package snippets

import (
	"apigen.dev/runtime/builtin/authorization"
	"apigen.dev/runtime/builtin/coordination"
	"apigen.dev/runtime/builtin/core"
	"apigen.dev/runtime/server"
)

// Program serves some of the ready-made groups.
var Program = server.Program{
	Name: "shop",

	Features: []server.Feature{&core.Feature{}, &coordination.Feature{}, &authorization.Feature{}},
}
