// Package services says where services listen that webhooks and other servers are behind, for a server that is outside
// of their network.
package services

import (
	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

const endpointsFlag = "service-endpoints"

// Feature gives a server the flag --service-endpoints, for the services of webhooks that admit or convert, and of
// APIServices. A service that the flag doesn't name is found by Program.Services, or else by DNS.
type Feature struct {
	server.Base
	endpoints []string
}

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringSliceVar(&f.endpoints, endpointsFlag, nil,
		"where the services of webhooks and APIServices listen, as namespace/name:port=host:port or "+
			"namespace/name=host:port; others are looked up as NAME.NAMESPACE.svc")
}

// Find returns how services are found: as the flag says, and otherwise by services, which may be nil.
func (f *Feature) Find(services server.Services) (server.Services, error) {
	if len(f.endpoints) == 0 {
		return services, nil
	}
	resolve, err := proxy.ParseEndpoints(endpointsFlag, f.endpoints, proxy.Resolve(services))
	return server.Services(resolve), err
}
