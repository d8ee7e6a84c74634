package snippets

import (
	"context"

	"apigen.dev/runtime/audit"
	"apigen.dev/runtime/builtin/auditlog"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Audited runs a server that can record what its clients do.
func Audited(groups []registry.Group) {
	server.Main(server.Program{
		Name:     "shop",
		Groups:   groups,
		Features: []server.Feature{&auditlog.Feature{}},
	})
}

// Discount is logic of a kind that explains a decision to the audit.
func Discount(ctx context.Context, code string) {
	audit.Annotate(ctx, "shop.example.com/discount", code)
}
