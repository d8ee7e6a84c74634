package clusterauthenticationtrust

import (
	"cmp"
	"context"
	"log/slog"

	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/server"
)

// Feature publishes whom the server believes: the authorities of client certificates in force, and the front proxy of
// the feature frontproxy.Feature. The server must serve ConfigMaps of the core group. It has no flags.
type Feature struct{ server.Base }

// Configure implements server.Feature.
func (*Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	current := func() Trust { return of(config) }
	seen := func(published FrontProxy) {
		if proxy, ok := config.FrontProxyInForce().(*frontproxy.Proxy); ok {
			proxy.Remove(frontproxy.Headers{
				Username: published.UsernameHeaders, UID: published.UIDHeaders, Group: published.GroupHeaders,
				ExtraPrefixes: published.ExtraHeaderPrefixes,
			})
		}
	}
	hook := publish(current, seen, cmp.Or(config.Log, slog.Default()))
	return server.Contribution{Hooks: []server.Hook{hook}}, nil
}

// of returns whom a server of a configuration believes now. The server must have started: a feature that comes later
// configures, too.
func of(config *server.Config) Trust {
	var trust Trust
	if config.ClientCA != nil {
		trust.ClientCA = config.ClientCA()
	}
	if proxy, ok := config.FrontProxyInForce().(*frontproxy.Proxy); ok {
		if believed := proxy.Trust(); believed != nil {
			trust.FrontProxy = FrontProxy{
				CA: believed.CA, AllowedNames: believed.AllowedNames, UsernameHeaders: believed.Username,
				UIDHeaders: believed.UID, GroupHeaders: believed.Group, ExtraHeaderPrefixes: believed.ExtraPrefixes,
			}
		}
	}
	return trust
}
