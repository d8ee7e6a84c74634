// Package rbac serves the group rbac.authorization.k8s.io, roles and their bindings, and decides by them what users may
// do. It may know the packages that serve groups, and access/rbac.
package rbac

import (
	"context"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/rbac/wiring"
	"apigen.dev/runtime/internal/access/rbac"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
)

// Feature serves the group, and has the server decide by its objects: the mode RBAC of --authorization-mode. When
// the server starts, it makes the roles and bindings of kube-apiserver, and roles for the kinds of the other groups. It
// has no flags.
type Feature struct{ server.Base }

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return []registry.Group{wiring.Group()} }

// Configure implements server.Feature.
func (*Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	index, served := &rbac.Index{}, kinds(config.Groups)
	hooks := []server.Hook{
		{Name: "rbac/index", Run: index.Follow},
		{Name: "rbac/bootstrap-roles", PostStart: func(ctx context.Context) error {
			policy, err := rbac.KubernetesPolicy()
			if err != nil {
				return err
			}
			policy.AddKinds(served)
			return rbac.Bootstrap(ctx, policy, index)
		}},
		{Name: "rbac/clusterrole-aggregation", Run: rbac.Aggregate},
	}
	return server.Contribution{
		Modes: map[string]auth.Authorizer{"RBAC": index}, AfterWrite: index.AfterWrite(), Hooks: hooks,
	}, nil
}

// kinds returns the served kinds of groups.
func kinds(groups []registry.Group) (all []*verb.Info) {
	for _, group := range groups {
		for _, resource := range group.Resources {
			all = append(all, resource.Info())
		}
	}
	return all
}
