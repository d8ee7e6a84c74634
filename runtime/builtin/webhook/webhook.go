// Package webhook runs the admission webhooks that the objects of admissionregistration.k8s.io register: mutating ones
// one after the other, validating ones at the same time. What is called when, what it is sent, and what becomes of its
// answers and failures is as in kube-apiserver 1.36.
//
// It may know packages admission, access/manifest, access/match, auth, builtin/admissionregistration/v1, access/policy,
// kubeconfig, patch, reach, registry, reload, review, server and verb.
package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/manifest"
	"apigen.dev/runtime/internal/access/match"
	"apigen.dev/runtime/internal/host/kubeconfig"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	registration "k8s.io/api/admissionregistration/v1"
)

// Feature brings the plug-ins MutatingAdmissionWebhook and ValidatingAdmissionWebhook into a server. They follow the
// configurations that the server serves; a server that serves none calls no webhook.
type Feature struct {
	mutating, validating plugin
	namespaces           match.Followed
	metrics              *metrics
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	f.metrics = newMetrics()
	for _, p := range []*plugin{&f.mutating, &f.validating} {
		*p = plugin{
			services: config.Services, log: cmp.Or(config.Log, slog.Default()), users: &kubeconfig.Users{},
			clients: map[string]*client{}, ready: make(chan struct{}),
		}
	}
	plugins := []admission.Plugin{
		{
			Name: "MutatingAdmissionWebhook", Handles: f.mutating.handles, Admit: f.admit,
			Configure: f.mutating.configure(readMutating),
		},
		{
			Name: "ValidatingAdmissionWebhook", Handles: f.validating.handles, Validate: f.validate,
			Configure: f.validating.configure(readValidating),
		},
	}
	hooks := []server.Hook{
		{Name: "admission-webhooks/namespaces", Run: f.namespaces.Run},
		f.mutating.hook("mutating", func(ctx context.Context, p *plugin) error {
			return follow(ctx, p, mutatingHooks)
		}),
		f.validating.hook("validating", func(ctx context.Context, p *plugin) error {
			return follow(ctx, p, validatingHooks)
		}),
	}
	return server.Contribution{Metrics: f.metrics.collectors(), Admission: plugins, Hooks: hooks}, nil
}

// plugin is the state of one of the plug-ins.
type plugin struct {
	services server.Services
	log      *slog.Logger
	users    *kubeconfig.Users
	// hooks is replaced whenever a configuration changes.
	hooks atomic.Pointer[hooks]
	// ready is closed once the configurations are known.
	ready chan struct{}
	once  sync.Once
	// files have the configurations of a directory; nil without one.
	files *reload.Files[[]*hook]

	mu      sync.Mutex
	clients map[string]*client

	// changing guards what hooks is made of: the hooks of files, and those of configurations by their names.
	changing sync.Mutex
	static   []*hook
	known    map[string][]*hook
	// isKnown reports whether the configurations that the server serves are known.
	isKnown bool
}

// hook follows the configurations. The server isn't ready before they are known.
func (p *plugin) hook(name string, follow func(context.Context, *plugin) error) server.Hook {
	return server.Hook{
		Name: "admission-webhooks/" + name,
		PostStart: func(ctx context.Context) error {
			go func() {
				if err := follow(ctx, p); err != nil && ctx.Err() == nil {
					p.log.ErrorContext(ctx, "webhooks can't be followed", "error", err)
				}
			}()
			select {
			case <-p.ready:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	}
}

// follow keeps the hooks of a plug-in up to date with the configurations of type C, until ctx ends.
func follow[C interface{ GetName() string }](
	ctx context.Context, p *plugin, hooksOf func(C) []*hook,
) error {
	if p.files != nil {
		p.setStatic(p.files.Value())
		go func() {
			ticker := time.NewTicker(reload.Every)
			defer ticker.Stop()
			p.files.Follow(ctx, ticker.C, p.log, "static manifests of webhooks", p.setStatic)
		}()
	}
	configurations, err := reach.Of[C](ctx)
	if err != nil {
		p.set(nil)
		return nil //nolint:nilerr // The server doesn't serve them.
	}
	known := map[string][]*hook{}
	return configurations.Follow(ctx, "", func(changes reach.Changes[C]) {
		if changes.Reset {
			clear(known)
		}
		for _, configuration := range changes.Put {
			known[configuration.GetName()] = identified(configuration.GetName(), hooksOf(configuration))
		}
		for _, configuration := range changes.Deleted {
			delete(known, configuration.GetName())
		}
		p.set(maps.Clone(known)) // the plugin keeps it
	})
}

// set replaces the hooks of configurations, by the names of these.
func (p *plugin) set(known map[string][]*hook) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.known, p.isKnown = known, true
	p.publish()
}

// setStatic replaces the hooks of files.
func (p *plugin) setStatic(static []*hook) {
	p.changing.Lock()
	defer p.changing.Unlock()
	p.static = static
	p.publish()
}

func (p *plugin) publish() {
	if !p.isKnown {
		return
	}
	p.hooks.Store(newHooks(p.static, p.known))
	p.forgetClients()
	p.once.Do(func() { close(p.ready) })
}

// handles reports whether a webhook may concern a write.
func (p *plugin) handles(a *admission.Attributes) bool {
	known := p.hooks.Load()
	if known == nil {
		return p.files != nil || !match.IsRegistration(a)
	}
	for range known.concerned(a) {
		return true
	}
	return false
}

// readyWithin is how long a request waits for the configurations of a server that has just started.
const readyWithin = 10 * time.Second

func (p *plugin) wait(ctx context.Context) (*hooks, error) {
	if known := p.hooks.Load(); known != nil {
		return known, nil
	}
	timer := time.NewTimer(readyWithin)
	defer timer.Stop()
	select {
	case <-p.ready:
		return p.hooks.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, errors.New("not yet ready to handle request")
	}
}

// configuration is kube-apiserver's WebhookAdmissionConfiguration.
type configuration struct {
	manifest.Plugin `json:",inline"`
	KubeConfigFile  string `json:"kubeConfigFile"`
}

// configure reads the configuration of the plug-in; read makes hooks of files.
func (p *plugin) configure(read func([]reload.File) ([]*hook, error)) func([]byte, string) error {
	return func(data []byte, _ string) error {
		var config configuration
		if err := manifest.Decode(data, &config); err != nil {
			return err
		}
		if config.Kind != "WebhookAdmissionConfiguration" && config.Kind != "WebhookAdmission" {
			return fmt.Errorf("its kind is %q: write WebhookAdmissionConfiguration", config.Kind)
		}
		err := p.readUsers(config.KubeConfigFile)
		if err == nil {
			err = config.Check()
		}
		if err == nil && config.StaticManifestsDir != "" {
			p.files, err = manifest.Open(config.StaticManifestsDir, read)
		}
		return err
	}
}

func (p *plugin) readUsers(path string) (err error) {
	if path == "" {
		return nil
	}
	if !filepath.IsAbs(path) {
		return fmt.Errorf("kubeConfigFile: Invalid value: %q: must be an absolute file path", path)
	}
	p.users, err = kubeconfig.ReadUsers(path)
	return err
}

// mutatingHooks returns the webhooks of a configuration.
func mutatingHooks(configuration *registration.MutatingWebhookConfiguration) []*hook {
	all := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		w := &configuration.Webhooks[i]
		all[i] = newHook(configuration.Name, &registration.ValidatingWebhook{
			Name: w.Name, ClientConfig: w.ClientConfig, Rules: w.Rules, FailurePolicy: w.FailurePolicy,
			MatchPolicy: w.MatchPolicy, NamespaceSelector: w.NamespaceSelector, ObjectSelector: w.ObjectSelector,
			SideEffects: w.SideEffects, TimeoutSeconds: w.TimeoutSeconds, MatchConditions: w.MatchConditions,
			AdmissionReviewVersions: w.AdmissionReviewVersions,
		})
		all[i].reinvoked = w.ReinvocationPolicy != nil &&
			*w.ReinvocationPolicy == registration.IfNeededReinvocationPolicy
	}
	return all
}

// validatingHooks returns the webhooks of a configuration.
func validatingHooks(configuration *registration.ValidatingWebhookConfiguration) []*hook {
	all := make([]*hook, len(configuration.Webhooks))
	for i := range configuration.Webhooks {
		all[i] = newHook(configuration.Name, &configuration.Webhooks[i])
	}
	return all
}
