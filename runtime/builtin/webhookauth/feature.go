package webhookauth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
)

// Authentication is the feature of servers that ask a webhook for the users of tokens: the flags
// --authentication-token-webhook-*. A main names it after features that know tokens themselves, so that these tokens
// don't leave the server.
type Authentication struct {
	file, version string
	flags         *pflag.FlagSet
}

var _ server.Feature = (*Authentication)(nil)

// Groups implements server.Feature.
func (*Authentication) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Authentication) AddFlags(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.file, "authentication-token-webhook-config-file", "",
		"kubeconfig of the webhook that knows the users of bearer tokens")
	flags.StringVar(&f.version, "authentication-token-webhook-version", v1beta1,
		"version of the TokenReviews for the webhook: v1 or v1beta1")
	AddDuration(flags, FlagTokenTTL, 2*time.Minute, "how long the server keeps the webhook's answers about tokens")
}

// Configure implements server.Feature.
func (f *Authentication) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	if f.file == "" {
		return server.Contribution{}, nil
	}
	ttl, err := f.flags.GetDuration(FlagTokenTTL)
	if err != nil {
		return server.Contribution{}, err
	}
	tokens, err := readTokens(f.file, f.version, ttl, config)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--authentication-token-webhook-config-file: %w", err)
	}
	return server.Contribution{
		Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}},
	}, nil
}

func readTokens(file, version string, ttl time.Duration, config *server.Config) (auth.TokenAuthenticator, error) {
	reached, err := kubeconfig.Read(file)
	if err != nil {
		return nil, err
	}
	endpoint, err := NewEndpoint(reached, "", 0, cmp.Or(config.Log, slog.Default()))
	if err != nil {
		return nil, err
	}
	return NewTokens(endpoint, version, ttl, meter.Shared(&config.Metrics, meter.NewTokenCache))
}

// The flags that several features have. The feature that a main names first adds them.
const (
	FlagTokenTTL        = "authentication-token-webhook-cache-ttl"
	FlagAuthorizedTTL   = "authorization-webhook-cache-authorized-ttl"
	FlagUnauthorizedTTL = "authorization-webhook-cache-unauthorized-ttl"
)

// AddDuration adds a flag, unless another feature has added it.
func AddDuration(flags *pflag.FlagSet, name string, value time.Duration, usage string) {
	if flags.Lookup(name) == nil {
		flags.Duration(name, value, usage)
	}
}

// Mode is the mode of authorization of the feature Authorization.
const Mode = "Webhook"

// Authorization is the feature of servers that ask a webhook what users may do: the mode Webhook of
// --authorization-mode, and the flags --authorization-webhook-*.
type Authorization struct {
	file, version string
	flags         *pflag.FlagSet
}

var _ server.Feature = (*Authorization)(nil)

// Groups implements server.Feature.
func (*Authorization) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Authorization) AddFlags(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.file, "authorization-webhook-config-file", "",
		"kubeconfig of the webhook that decides what users may do, for --authorization-mode=Webhook")
	flags.StringVar(&f.version, "authorization-webhook-version", v1beta1,
		"version of the SubjectAccessReviews for the webhook: v1 or v1beta1")
	AddDuration(flags, FlagAuthorizedTTL, 5*time.Minute, "how long the server keeps permissions of the webhook")
	AddDuration(flags, FlagUnauthorizedTTL, 30*time.Second, "how long the server keeps refusals of the webhook")
}

// Configure implements server.Feature.
func (f *Authorization) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	modes, _ := f.flags.GetStringSlice("authorization-mode") // a command without the flag has no modes
	switch named := slices.Contains(modes, Mode); {
	case named && f.file == "":
		return server.Contribution{}, errors.New("authorization-mode Webhook's authorization config file not passed")
	case !named && f.file != "":
		return server.Contribution{}, errors.New(
			"cannot specify --authorization-webhook-config-file without mode Webhook")
	case f.file == "":
		return server.Contribution{}, nil
	}
	reached, err := kubeconfig.Read(f.file)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	log := cmp.Or(config.Log, slog.Default())
	endpoint, err := NewEndpoint(reached, "", 0, log)
	if err != nil {
		return server.Contribution{}, fmt.Errorf("--authorization-webhook-config-file: %w", err)
	}
	settings := Config{
		Version: f.version, Log: log, Name: "default", Metrics: meter.Shared(&config.Metrics, meter.NewReviews),
	}
	if settings.AuthorizedTTL, err = f.flags.GetDuration(FlagAuthorizedTTL); err != nil {
		return server.Contribution{}, err
	}
	if settings.UnauthorizedTTL, err = f.flags.GetDuration(FlagUnauthorizedTTL); err != nil {
		return server.Contribution{}, err
	}
	authorizer, err := NewAuthorizer(endpoint, settings)
	if err != nil {
		return server.Contribution{}, err
	}
	return server.Contribution{Modes: map[string]auth.Authorizer{Mode: authorizer}}, nil
}
