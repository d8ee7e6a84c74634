package snippets

import (
	"apigen.dev/runtime/builtin/authorizationconfig"
	"apigen.dev/runtime/builtin/cluster"
	"apigen.dev/runtime/builtin/delegated"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Asking runs a server that asks webhooks and believes a front proxy, if flags say so.
func Asking(groups []registry.Group) {
	server.Main(server.Program{
		Name:   "shop",
		Groups: groups,
		Features: []server.Feature{
			&webhookauth.Authentication{}, &webhookauth.Authorization{}, &frontproxy.Feature{},
			&authorizationconfig.Feature{},
		},
	})
}

// Guest runs a server that may be the guest of a cluster.
func Guest(groups []registry.Group) {
	server.Main(server.Program{Name: "shop", Groups: groups, Features: []server.Feature{&delegated.Feature{}}})
}

// Deployed runs a server that may be a guest in a pod of the cluster.
func Deployed(groups []registry.Group) {
	server.Main(server.Program{
		Name:     "shop",
		Groups:   groups,
		Features: []server.Feature{&delegated.Feature{}, &cluster.Feature{}},
	})
}
