package authorizationconfig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/builtin/webhookauth"
	"apigen.dev/runtime/internal/access/meter"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// Feature is for servers that take an AuthorizationConfiguration: the flag --authorization-config.
// A file may name the modes of all features of a main, whatever their order.
type Feature struct {
	flags *pflag.FlagSet
	file  string
}

var _ server.Feature = (*Feature)(nil)

const flag = "authorization-config"

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (f *Feature) AddFlags(flags *pflag.FlagSet) {
	f.flags = flags
	flags.StringVar(&f.file, flag, "", "file with an AuthorizationConfiguration, in kube-apiserver's format, which "+
		"says who decides what users may do; it excludes --authorization-mode and --authorization-webhook-*")
}

// excluded are the flags that the file replaces.
var excluded = []string{
	"authorization-mode", "authorization-webhook-config-file", "authorization-webhook-version",
	webhookauth.FlagAuthorizedTTL, webhookauth.FlagUnauthorizedTTL,
}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	if f.file == "" {
		return server.Contribution{}, nil
	}
	if slices.ContainsFunc(excluded, f.flags.Changed) {
		return server.Contribution{}, errors.New("--authorization-config can not be specified " +
			"when --authorization-mode or --authorization-webhook-* flags are defined")
	}
	b := &builder{
		log: cmp.Or(config.Log, slog.Default()), reviews: meter.Shared(&config.Metrics, meter.NewReviews),
		decisions: meter.Shared(&config.Metrics, meter.NewDecisions),
	}
	reloads := meter.NewReloads("authorization")
	return server.Contribution{
		Metrics: []prometheus.Collector{reloads},
		AuthorizerOf: func(modes map[string]auth.Authorizer) (auth.Authorizer, error) {
			b.modes = modes
			return f.open(b, reloads)
		},
	}, nil
}

// open reads the file, which may name modes.
func (f *Feature) open(b *builder, reloads *meter.Reloads) (auth.Authorizer, error) {
	current, err := reload.Open(b.log, b.build, f.file)
	if err != nil {
		return nil, fmt.Errorf("--authorization-config %s: %w", f.file, err)
	}
	reloads.Loaded(b.content)
	current.Observe(func(err error) { reloads.Reloaded(b.content, err) })
	return authorizer{current}, nil
}

// authorizer is the union of the file's authorizers.
type authorizer struct {
	current *reload.Value[auth.Union]
}

var _ auth.RuleResolver = authorizer{}

// Authorize implements auth.Authorizer.
func (a authorizer) Authorize(ctx context.Context, at auth.Attributes) (auth.Decision, string, error) {
	return a.current.Get().Authorize(ctx, at)
}

// RulesFor implements auth.RuleResolver.
func (a authorizer) RulesFor(ctx context.Context, user *auth.User, namespace string) (auth.Rules, bool, error) {
	return a.current.Get().RulesFor(ctx, user, namespace)
}

// builder makes the authorizers of a file, again and again. One goroutine at a time may use it.
type builder struct {
	modes     map[string]auth.Authorizer
	log       *slog.Logger
	reviews   *meter.Reviews
	decisions *meter.Decisions

	content  []byte         // the last one that it was given
	config   *Configuration // the last one without an error
	union    auth.Union
	webhooks []*webhookauth.Authorizer
	required []string // types beside Webhook that the first file named, which no later one may drop
}

// build makes the authorizers of a file's content. It keeps the present ones, and what their caches hold, if the
// content says the same.
func (b *builder) build(contents [][]byte) (auth.Union, error) {
	b.content = contents[0]
	config, err := Parse(contents[0])
	if err != nil {
		return nil, fmt.Errorf("failed to load AuthorizationConfiguration from file: %w", err)
	}
	if err := config.validate(b.types(), b.required); err != nil {
		return nil, err
	}
	if b.config != nil && reflect.DeepEqual(config, b.config) {
		return b.union, nil
	}
	var union auth.Union
	var webhooks []*webhookauth.Authorizer
	for _, a := range config.Authorizers {
		authorizer := b.modes[a.Type]
		if a.Type == typeWebhook {
			asked, err := a.Webhook.authorizer(a.Name, b.reviews, b.log.With("authorizer", a.Name))
			if err != nil {
				return nil, fmt.Errorf("authorizer %s: %w", a.Name, err)
			}
			authorizer, webhooks = asked, append(webhooks, asked)
		}
		union = append(union, b.decisions.Authorizer(a.Type, a.Name, authorizer))
	}
	for _, previous := range b.webhooks {
		previous.Close()
	}
	if b.config == nil {
		b.required = config.types()
	}
	b.config, b.union, b.webhooks = config, union, webhooks
	return union, nil
}

// types are those that a file may name.
func (b *builder) types() []string {
	types := slices.Collect(maps.Keys(b.modes))
	if !slices.Contains(types, typeWebhook) {
		types = append(types, typeWebhook)
	}
	slices.Sort(types)
	return types
}

func (w *Webhook) authorizer(name string, reviews *meter.Reviews, log *slog.Logger) (*webhookauth.Authorizer, error) {
	endpoint, err := w.endpoint(log)
	if err != nil {
		return nil, err
	}
	config := webhookauth.Config{Version: w.SubjectAccessReviewVersion, Log: log, Name: name, Metrics: reviews}
	if w.FailurePolicy == policyDeny {
		config.OnFailure = auth.Deny
	}
	if *w.CacheAuthorizedRequests {
		config.AuthorizedTTL = w.AuthorizedTTL.Duration
	}
	if *w.CacheUnauthorizedRequests {
		config.UnauthorizedTTL = w.UnauthorizedTTL.Duration
	}
	compiled, errs := compile(w.MatchConditions, nil)
	if len(errs) > 0 {
		return nil, errs.ToAggregate()
	}
	if len(compiled) > 0 {
		config.Match = compiled.measured(name, reviews)
	}
	return webhookauth.NewAuthorizer(endpoint, config)
}

func (w *Webhook) endpoint(log *slog.Logger) (*webhookauth.Endpoint, error) {
	if w.ConnectionInfo.Type == inCluster {
		cluster, err := kubeconfig.InCluster()
		if err != nil {
			return nil, err
		}
		path := "/apis/authorization.k8s.io/" + w.SubjectAccessReviewVersion + "/subjectaccessreviews"
		return webhookauth.NewEndpoint(cluster, path, w.Timeout.Duration, log)
	}
	reached, err := kubeconfig.Read(*w.ConnectionInfo.KubeConfigFile)
	if err != nil {
		return nil, err
	}
	return webhookauth.NewEndpoint(reached, "", w.Timeout.Duration, log)
}
