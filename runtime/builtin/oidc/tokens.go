package oidc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"reflect"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/access/tokencache"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// Feature is for a server that accepts tokens of OpenID Connect providers, and that decides by
// --authentication-config which requests may be anonymous. A main names it after the feature that signs tokens of
// service accounts, whose issuers are nobody else's.
type Feature struct {
	file   string
	legacy legacy
	set    *pflag.FlagSet
}

var _ server.Feature = (*Feature)(nil)

// Groups implements server.Feature. The feature serves no group.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (t *Feature) AddFlags(flags *pflag.FlagSet) {
	t.set = flags
	flags.StringVar(&t.file, "authentication-config", "",
		"file with an AuthenticationConfiguration, in kube-apiserver's format: the issuers of tokens (OpenID "+
			"Connect), and who may be anonymous; the server reads it again when it changes")
	t.legacy.add(flags)
}

// live has the issuers of the configuration in force. It is safe for concurrent use.
type live struct{ atomic.Pointer[issuers] }

func (l *live) AuthenticateToken(ctx context.Context, token string, audiences []string) (*auth.Identity, error) {
	return l.Load().AuthenticateToken(ctx, token, audiences)
}

// Configure implements server.Feature.
func (t *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	own, metrics := func() []string { return ownIssuers(config.Issuer) }, meter.NewIssuers()
	var in live
	if t.file == "" {
		all, err := t.legacy.issuers(t.set, own, metrics)
		if err != nil || len(all) == 0 {
			return server.Contribution{}, err
		}
		in.Store(&all)
		contribution := accept(config, &in, nil, metrics)
		contribution.Metrics = []prometheus.Collector{metrics}
		contribution.Check = func(*server.Config) error { // the server's own issuers are known now
			_, err := t.legacy.issuers(t.set, own, metrics)
			return err
		}
		return contribution, nil
	}
	if changed := t.legacy.changed(t.set); changed != "" {
		return server.Contribution{}, fmt.Errorf("--authentication-config and --%s can't both be given", changed)
	}
	files, err := open(t.file, own, metrics)
	if err != nil {
		return server.Contribution{}, err
	}
	first := files.Value()
	in.Store(&first.issuers)
	contribution := accept(config, &in, files, metrics)
	contribution.Metrics = []prometheus.Collector{metrics, measure(files)}
	contribution.Check = func(*server.Config) error {
		_, faults := validate(first.configuration, own())
		return wrong(t.file, faults.ToAggregate())
	}
	if a := first.configuration.Anonymous; a != nil {
		if t.set.Changed("anonymous-auth") {
			return server.Contribution{}, errors.New(
				"--anonymous-auth can't be given, since --authentication-config has the field anonymous")
		}
		contribution.Authentication.Anonymous = a.users()
	}
	return contribution, nil
}

// measure counts how often a configuration is read again.
func measure(files *reload.Files[*loaded]) *meter.Reloads {
	reloads := meter.NewReloads("authentication")
	reloads.Loaded(files.Value().content)
	files.Observe(func(err error) { reloads.Reloaded(files.Value().content, err) })
	return reloads
}

// accept returns what adds issuers to a server, with the hook that reads their keys at the start, and the file when it
// changes.
func accept(
	config *server.Config, in *live, files *reload.Files[*loaded], metrics *meter.Issuers,
) server.Contribution {
	log := config.Log
	hook := server.Hook{Name: "token-issuers", Run: func(ctx context.Context) error {
		warm(ctx, in, log)
		if files == nil {
			return nil
		}
		ticker := time.NewTicker(reload.Every)
		defer ticker.Stop()
		files.Follow(ctx, ticker.C, log, "authentication configuration", func(l *loaded) {
			in.Store(&l.issuers)
			metrics.Keep(l.issuers.urls())
			warm(ctx, in, log)
		})
		return nil
	}}
	tokens := tokencache.New(in, tokencache.Config{
		Log: log, Metrics: meter.Shared(&config.Metrics, meter.NewTokenCache),
	})
	return server.Contribution{
		Authentication: auth.Authentication{Tokens: []auth.TokenAuthenticator{tokens}}, Hooks: []server.Hook{hook},
	}
}

// warm reads the keys of the issuers, so that the first request needn't wait for them. If an issuer can't be reached,
// its tokens are refused until it can.
func warm(ctx context.Context, in *live, log *slog.Logger) {
	if err := in.Load().warm(ctx); err != nil && ctx.Err() == nil {
		log.Warn("the keys of an issuer of tokens could not be read; its tokens are refused until they can", "error",
			err)
	}
}

// ownIssuers returns the issuers of the tokens that the server itself signs.
func ownIssuers(issuer auth.TokenIssuer) []string {
	if signing, ok := issuer.(interface{ Issuers() []string }); ok {
		return signing.Issuers()
	}
	return nil
}

// loaded is a valid configuration, and its issuers.
type loaded struct {
	content       []byte
	configuration *Configuration
	issuers       issuers
}

// open reads a configuration. What it says about anonymous requests can't change while the server runs.
func open(path string, own func() []string, metrics *meter.Issuers) (*reload.Files[*loaded], error) {
	var first *Configuration
	files, err := reload.New(func(contents [][]byte) (*loaded, error) {
		c, err := Parse(contents[0])
		if err != nil {
			return nil, err
		}
		all, faults := validate(c, own())
		if err := faults.ToAggregate(); err != nil {
			return nil, err
		}
		if first == nil {
			first = c
		}
		if !reflect.DeepEqual(first.Anonymous, c.Anonymous) {
			return nil, errors.New("anonymous: Forbidden: changed from initial configuration file")
		}
		return &loaded{contents[0], c, newIssuers(all, allAlgorithms, metrics)}, nil
	}, path)
	if err != nil {
		return nil, wrong(path, err)
	}
	return files, nil
}

// wrong returns an error with the flag and the file that it is about, or nil.
func wrong(path string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("--authentication-config %s: %w", path, err)
}

// users returns which requests are anonymous.
func (a *Anonymous) users() func(*http.Request) *auth.User {
	if !a.Enabled {
		return auth.AnonymousNowhere
	}
	if len(a.Conditions) == 0 {
		return auth.AnonymousEverywhere
	}
	var paths []string
	for _, condition := range a.Conditions {
		paths = append(paths, condition.Path)
	}
	return auth.AnonymousAt(paths...)
}
