// Package delegated makes a server the guest of a Kubernetes cluster: the cluster knows the users and what they may do,
// and its aggregator sends the server its requests. The server asks with TokenReviews and SubjectAccessReviews, and
// believes the aggregator's certificate and the cluster's client certificates, whose authorities it reads from the
// cluster and follows.
//
// It may know packages auth, builtin/frontproxy, access/meter, builtin/webhookauth, certs, kubeconfig, registry and
// server.
package delegated

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/frontproxy"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Feature is for servers that a cluster can host: the flags --authentication-kubeconfig and
// --authorization-kubeconfig, and those about them. Without these two, the server stands alone.
type Feature struct {
	flags          *pflag.FlagSet
	skip, tolerate bool
}

var _ server.Feature = (*Feature)(nil)

const (
	authenticationFlag = "authentication-kubeconfig"
	authorizationFlag  = "authorization-kubeconfig"
)

// What a cluster answers about a user is kept so long, as by k8s.io/apiserver, and it has so much time to answer.
const (
	kept         = 10 * time.Second
	reviewWithin = 10 * time.Second
)

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (a *Feature) AddFlags(flags *pflag.FlagSet) {
	a.flags = flags
	flags.String(authenticationFlag, "", "kubeconfig of the cluster that knows the users, with the right to create "+
		"tokenreviews.authentication.k8s.io; an empty value stands for the service account of the pod")
	flags.BoolVar(&a.skip, "authentication-skip-lookup", false,
		"don't read the authorities of the aggregator and of client certificates from the cluster")
	flags.BoolVar(&a.tolerate, "authentication-tolerate-lookup-failure", false,
		"start although the authorities can't be read from the cluster: the server reads them once it can")
	flags.String(authorizationFlag, "", "kubeconfig of the cluster that decides what users may do, with the right to "+
		"create subjectaccessreviews.authorization.k8s.io; an empty value stands for the service account of the pod")
	webhookauth.AddDuration(flags, webhookauth.FlagTokenTTL, kept,
		"how long the server keeps the cluster's answers about tokens")
	webhookauth.AddDuration(flags, webhookauth.FlagAuthorizedTTL, kept,
		"how long the server keeps permissions of the cluster")
	webhookauth.AddDuration(flags, webhookauth.FlagUnauthorizedTTL, kept,
		"how long the server keeps refusals of the cluster")
	frontproxy.AddFlags(flags)
}

// Configure implements server.Feature. It reads the authorities from the cluster.
func (a *Feature) Configure(ctx context.Context, config *server.Config) (c server.Contribution, err error) {
	if a.flags.Changed(authenticationFlag) {
		if c.Authentication, c.Hooks, err = a.authenticate(ctx, config); err != nil {
			return server.Contribution{}, err
		}
	}
	if a.flags.Changed(authorizationFlag) {
		c.Authorizer, err = a.authorize(config)
	}
	return c, err
}

// authenticate returns how the cluster finds users, and the hooks that follow its authorities.
func (a *Feature) authenticate(
	ctx context.Context, config *server.Config,
) (in auth.Authentication, hooks []server.Hook, err error) {
	log := cmp.Or(config.Log, slog.Default())
	cluster, err := a.cluster(authenticationFlag)
	if err != nil {
		return in, nil, err
	}
	endpoint, err := webhookauth.NewEndpoint(cluster, "/apis/authentication.k8s.io/v1/tokenreviews", reviewWithin, log)
	if err != nil {
		return in, nil, fmt.Errorf("--%s: %w", authenticationFlag, err)
	}
	ttl, err := a.ttl(webhookauth.FlagTokenTTL)
	if err != nil {
		return in, nil, err
	}
	endpoint.Through(meter.Shared(&config.Metrics, meter.NewDelegated).Authentication)
	tokens, err := webhookauth.NewTokens(endpoint, "v1", ttl, meter.Shared(&config.Metrics, meter.NewTokenCache))
	if err != nil {
		return in, nil, err
	}
	in.Tokens = []auth.TokenAuthenticator{tokens}
	proxy, err := frontproxy.FromFlags(a.flags, log, frontproxy.Standard())
	if err != nil {
		return in, nil, err
	}
	if proxy != nil {
		in.FrontProxy = proxy
	}
	if a.skip {
		return in, nil, nil
	}
	hook, err := a.lookup(ctx, &in, cluster, log)
	return in, []server.Hook{hook}, err
}

// lookup adds the authorities that no flag names, which it reads from the cluster, and returns the hook that follows
// them.
func (a *Feature) lookup(
	ctx context.Context, in *auth.Authentication, cluster *kubeconfig.Config, log *slog.Logger,
) (server.Hook, error) {
	client, err := cluster.Client(log, 0)
	if err != nil {
		return server.Hook{}, fmt.Errorf("--%s: %w", authenticationFlag, err)
	}
	trusted := &trusted{log: log, certificates: auth.NewCertificates(nil)}
	f := &follower{client: client, server: cluster.Server, take: trusted.take, log: log, pause: time.Second}
	first, cancel := context.WithTimeout(ctx, reviewWithin)
	defer cancel()
	if _, err := f.list(first); err != nil {
		if !a.tolerate {
			return server.Hook{}, fmt.Errorf("--%s: %w", authenticationFlag, err)
		}
		log.Warn("the authorities of the cluster could not be read yet", "error", err)
	}
	if in.FrontProxy == nil {
		in.FrontProxy = frontproxy.New(trusted.proxy.Load)
	}
	if !a.flags.Changed("client-ca-file") {
		in.Certificates = trusted
	}
	return server.Hook{Name: "delegated-authentication", Run: f.run}, nil
}

func (a *Feature) authorize(config *server.Config) (auth.Authorizer, error) {
	for _, other := range []string{"authorization-mode", "authorization-config", "authorization-webhook-config-file"} {
		if a.flags.Changed(other) {
			return nil, fmt.Errorf("--%s decides about all permissions, and can not be specified with --%s",
				authorizationFlag, other)
		}
	}
	log := cmp.Or(config.Log, slog.Default())
	cluster, err := a.cluster(authorizationFlag)
	if err != nil {
		return nil, err
	}
	endpoint, err := webhookauth.NewEndpoint(
		cluster, "/apis/authorization.k8s.io/v1/subjectaccessreviews", reviewWithin, log)
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", authorizationFlag, err)
	}
	endpoint.Through(meter.Shared(&config.Metrics, meter.NewDelegated).Authorization)
	settings := webhookauth.Config{Version: "v1", Log: log}
	if settings.AuthorizedTTL, err = a.ttl(webhookauth.FlagAuthorizedTTL); err != nil {
		return nil, err
	}
	if settings.UnauthorizedTTL, err = a.ttl(webhookauth.FlagUnauthorizedTTL); err != nil {
		return nil, err
	}
	return webhookauth.NewAuthorizer(endpoint, settings)
}

// cluster returns the cluster that a flag names: by a kubeconfig, or with an empty value, that of the pod.
func (a *Feature) cluster(flag string) (*kubeconfig.Config, error) {
	path, err := a.flags.GetString(flag)
	if err != nil {
		return nil, err
	}
	read := kubeconfig.InCluster
	if path != "" {
		read = func() (*kubeconfig.Config, error) { return kubeconfig.Read(path) }
	}
	cluster, err := read()
	if err != nil {
		return nil, fmt.Errorf("--%s: %w", flag, err)
	}
	return cluster, nil
}

// ttl returns the value of a flag whose default another feature may have set.
func (a *Feature) ttl(flag string) (time.Duration, error) {
	if !a.flags.Changed(flag) {
		return kept, nil
	}
	return a.flags.GetDuration(flag)
}
