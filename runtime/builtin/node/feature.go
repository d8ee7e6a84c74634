package node

import (
	"context"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
)

// Mode is the mode of --authorization-mode that Feature adds.
const Mode = "Node"

// Feature is for servers that have kubelets as clients: the mode Node of --authorization-mode. It has
// no groups and no flags. It follows those of its kinds that the server serves.
type Feature struct{ server.Base }

// Configure implements server.Feature.
func (*Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	authorizer, err := New()
	if err != nil {
		return server.Contribution{}, err
	}
	return server.Contribution{
		Modes: map[string]auth.Authorizer{Mode: authorizer},
		Hooks: []server.Hook{
			{Name: "node/graph", Run: authorizer.Graph.Follow},
			{Name: "node/graph-complete", PostStart: authorizer.Graph.Wait},
		},
	}, nil
}
