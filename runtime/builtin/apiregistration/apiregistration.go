// Package apiregistration serves the group apiregistration.k8s.io: APIServices, by which other servers serve versions
// of groups behind this one, as behind kube-apiserver's aggregator. The server registers the versions that it serves
// itself, passes requests for the others on with the identity of their users, says in the status of an APIService
// whether its server can be reached, and lists all in discovery and OpenAPI.
//
// Every server with it follows the same APIServices. It may know packages auth, builtin/frontproxy, certs, discovery,
// jsondoc, proxy, reach, reload, respond and server.
package apiregistration

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"time"

	"apigen.dev/runtime/builtin/apiregistration/wiring"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/internal/http/proxy"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

const endpointsFlag = "aggregator-endpoints"

// Feature serves APIServices, and passes requests on to the servers that they name. It belongs to one Program, and
// stands behind the features that authenticate.
type Feature struct {
	certificateFile, keyFile string
	endpoints                []string
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return []registry.Group{wiring.Group()} }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	flags.StringVar(&f.certificateFile, "proxy-client-cert-file", "",
		"client certificate (PEM) by which the servers behind APIServices know this one as their front proxy; without "+
			"it, the server makes one, and publishes its authority in the ConfigMap "+
			"kube-system/extension-apiserver-authentication")
	flags.StringVar(&f.keyFile, "proxy-client-key-file", "", "key of --proxy-client-cert-file")
	flags.StringSliceVar(&f.endpoints, endpointsFlag, nil,
		"where the services of APIServices listen, as namespace/name:port=host:port or namespace/name=host:port; "+
			"others are found as those of webhooks are")
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	resolve, err := proxy.ParseEndpoints(endpointsFlag, f.endpoints, proxy.Resolve(config.Services))
	if err != nil {
		return server.Contribution{}, err
	}
	log := cmp.Or(config.Log, slog.Default())
	contribution := server.Contribution{DynamicAPIs: cmp.Or(config.DynamicAPIs, new(server.DynamicAPIs))}
	identity, err := f.identity(&contribution, config, log)
	if err != nil {
		return server.Contribution{}, err
	}
	c := newController(contribution.DynamicAPIs, resolve, identity, log)
	contribution.Guard = refuseLoops(proxy.NewLoop(identity))
	contribution.Metrics = []prometheus.Collector{
		c.metrics.unavailable, c.metrics.missingSAN, c.metrics.insecureSHA1, availability{c},
	}
	contribution.Hooks = []server.Hook{
		{Name: "apiservice-discovery-controller", PostStart: c.awaitFirst},
		{Name: "apiservice-registration-controller", Run: c.run},
	}
	return contribution, nil
}

// identity returns the client certificate of the server as a front proxy.
func (f *Feature) identity(
	contribution *server.Contribution, config *server.Config, log *slog.Logger,
) (getCertificate, error) {
	switch {
	case f.certificateFile != "" && f.keyFile != "":
		return givenIdentity(f.certificateFile, f.keyFile, log)
	case f.certificateFile != "" || f.keyFile != "":
		return nil, errors.New("--proxy-client-cert-file and --proxy-client-key-file go together")
	}
	own, err := newOwnIdentity(filepath.Join(config.DataDir, "front-proxy"), time.Now)
	if err != nil {
		return nil, err
	}
	trust, err := frontproxy.NewTrust(own.authority.Trust(), []string{proxyName}, frontproxy.Standard())
	if err != nil {
		return nil, err
	}
	contribution.OwnFrontProxy = frontproxy.Published(trust)
	contribution.Check = func(config *server.Config) error {
		if config.Authentication.FrontProxy != nil {
			log.Warn("the certificate that the server made as a front proxy is published by nobody, since " +
				"--requestheader-client-ca-file names another authority: name --proxy-client-cert-file, too")
		}
		return nil
	}
	return own.get, nil
}
