// Package apiextensions serves the group apiextensions.k8s.io: CustomResourceDefinitions, and the custom resources that
// they define. Every server with it accepts names, serves what is established, and deletes what a deleted definition
// leaves; servers that share a backend agree by writing the same. It may know the packages that serve groups, dynamic,
// reach and server.
package apiextensions

import (
	"cmp"
	"context"

	"apigen.dev/runtime/builtin/apiextensions/wiring"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Feature serves definitions, and custom resources. It belongs to one Program.
type Feature struct{}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return []registry.Group{wiring.Upgrading()} }

// AddFlags implements server.Feature: the feature has none.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature. The server is ready when it serves the definitions that it began with.
func (*Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	apis := cmp.Or(config.DynamicAPIs, new(server.DynamicAPIs))
	c := newController(apis, config.Services, config.Log)
	return server.Contribution{DynamicAPIs: apis, Hooks: []server.Hook{
		{Name: "crd-informer-synced", PostStart: c.awaitFirst},
		{Name: "custom-resource-definitions", Run: c.run},
	}}, nil
}
