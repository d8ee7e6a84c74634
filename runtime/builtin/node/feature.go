package node

import (
	"context"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/server"
)

// Mode is the mode of --authorization-mode that Authorization adds.
const Mode = "Node"

// Authorization is the feature of servers that have kubelets as clients: the mode Node of --authorization-mode. It has
// no groups and no flags. It follows those of its kinds that the server serves.
type Authorization struct{ flagless }

// flagless is a feature without groups and flags.
type flagless = server.Serving

var _ server.Feature = Authorization{}

// Configure implements server.Feature.
func (Authorization) Configure(_ context.Context, config *server.Config) error {
	authorizer, err := New()
	if err != nil {
		return err
	}
	if config.Modes == nil {
		config.Modes = map[string]auth.Authorizer{}
	}
	config.Modes[Mode] = authorizer
	config.Hooks = append(config.Hooks,
		server.Hook{Name: "node/graph", Run: authorizer.Graph.Follow},
		server.Hook{Name: "node/graph-complete", PostStart: authorizer.Graph.Wait},
	)
	return nil
}
