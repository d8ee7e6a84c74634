// Package policy enforces the admission policies that the objects of admissionregistration.k8s.io declare: mutating
// ones change an object, validating ones refuse, warn or audit a write. Which writes a policy concerns, what its
// expressions see and what becomes of their results and failures is as in kube-apiserver 1.36.
//
// It may know packages admission, access/manifest, access/match, builtin/admissionregistration/v1, cel, access/policy,
// ownership, patch, reach, registry, reload, server and verb.
package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	"apigen.dev/runtime/internal/reload"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	registration "k8s.io/api/admissionregistration/v1"
)

// Feature brings the plug-ins MutatingAdmissionPolicy and ValidatingAdmissionPolicy into a server. They follow the
// policies and bindings that the server serves; a server that serves none has no policies.
type Feature struct {
	namespaces match.Followed
	params     *params
	log        *slog.Logger
	// validated and mutated measure the checks of the two kinds of policies.
	validated, mutated *checks

	validating source[*registration.ValidatingAdmissionPolicy, *registration.ValidatingAdmissionPolicyBinding]
	mutating   source[*registration.MutatingAdmissionPolicy, *registration.MutatingAdmissionPolicyBinding]
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature.
func (f *Feature) Configure(_ context.Context, config *server.Config) (server.Contribution, error) {
	f.log, f.params = cmp.Or(config.Log, slog.Default()), newParams()
	f.validated, f.mutated = newChecks("validating", "enforcement_action"), newChecks("mutating")
	f.validating.init(f.log, newValidating, bindValidating)
	f.mutating.init(f.log, newMutating, bindMutating)
	plugins := []admission.Plugin{
		{
			Name: pluginName, Handles: f.handlesMutating, Admit: f.admit,
			Configure: f.mutating.configure("MutatingAdmissionPolicyConfiguration", readMutating),
		},
		{
			Name: "ValidatingAdmissionPolicy", Handles: f.handlesValidating, Validate: f.validate,
			Configure: f.validating.configure("ValidatingAdmissionPolicyConfiguration", readValidating),
		},
	}
	hooks := []server.Hook{
		{Name: "admission-policies/namespaces", Run: f.namespaces.Run},
		{Name: "admission-policies/params", Run: f.params.run},
		f.hook("validating", f.validating.ready, f.validating.follow),
		f.hook("mutating", f.mutating.ready, f.mutating.follow),
		{Name: "admission-policies/types", Run: f.checkTypes},
	}
	return server.Contribution{
		Metrics: append(f.validated.collectors(), f.mutated.collectors()...), Admission: plugins, Hooks: hooks,
	}, nil
}

func bindValidating(b *registration.ValidatingAdmissionPolicyBinding) (policy string, made *binding) {
	return b.Spec.PolicyName, newBinding(b.Name, b.Spec.ParamRef, b.Spec.MatchResources, b.Spec.ValidationActions)
}

func bindMutating(b *registration.MutatingAdmissionPolicyBinding) (policy string, made *binding) {
	return b.Spec.PolicyName, newBinding(b.Name, b.Spec.ParamRef, b.Spec.MatchResources, nil)
}

// hook follows the policies. The server isn't ready before they are known.
func (f *Feature) hook(
	name string, ready chan struct{}, follow func(context.Context, func()) error,
) server.Hook {
	return server.Hook{
		Name: "admission-policies/" + name,
		PostStart: func(ctx context.Context) error {
			go func() {
				if err := follow(ctx, f.followParams); err != nil && ctx.Err() == nil {
					f.log.ErrorContext(ctx, "admission policies can't be followed", "error", err)
				}
			}()
			select {
			case <-ready:
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	}
}

// followParams has the kinds of parameters followed that policies need now.
func (f *Feature) followParams() {
	needed := map[registration.ParamKind]bool{}
	for _, set := range []*set{f.validating.set.Load(), f.mutating.set.Load()} {
		if set == nil {
			continue
		}
		for _, p := range set.policies {
			if p.paramKind != nil {
				needed[*p.paramKind] = true
			}
		}
	}
	f.params.need(needed)
}

// reviews are the groups whose kinds no policy sees: a policy that refuses them would break the server.
var reviews = []string{"authentication.k8s.io", "authorization.k8s.io"}

func isReview(a *admission.Attributes) bool { return slices.Contains(reviews, a.Resource.Group) }

func (f *Feature) handlesValidating(a *admission.Attributes) bool {
	return f.validating.concerns(a) && !isReview(a)
}

func (f *Feature) handlesMutating(a *admission.Attributes) bool {
	return a.Operation != admission.Delete && f.mutating.concerns(a) && !isReview(a)
}

// source has the policies and bindings of one kind.
type source[P, B interface{ GetName() string }] struct {
	compile func(P) *policy
	bind    func(B) (policy string, b *binding)
	log     *slog.Logger
	// files have the policies of a directory; nil without one.
	files *reload.Files[[]*bound]
	set   atomic.Pointer[set]
	// ready is closed once both are known.
	ready chan struct{}
}

func (s *source[P, B]) init(log *slog.Logger, compile func(P) *policy, bind func(B) (string, *binding)) {
	s.log, s.compile, s.bind, s.ready = log, compile, bind, make(chan struct{})
}

// concerns tells cheaply whether a policy may concern a write.
func (s *source[P, B]) concerns(a *admission.Attributes) bool {
	known := s.set.Load()
	if known == nil {
		return s.files != nil || !match.IsPolicy(a)
	}
	for range known.concerned(a) {
		return true
	}
	return false
}

// readyWithin is how long a request waits for the policies of a server that has just started.
const readyWithin = 10 * time.Second

func (s *source[P, B]) wait(ctx context.Context) (*set, error) {
	if known := s.set.Load(); known != nil {
		return known, nil
	}
	timer := time.NewTimer(readyWithin)
	defer timer.Stop()
	select {
	case <-s.ready:
		return s.set.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
		return nil, errors.New("not yet ready to handle request")
	}
}

// follow keeps the set up to date until ctx ends. It calls changed after each change.
func (s *source[P, B]) follow(ctx context.Context, changed func()) error {
	known := &known[P, B]{source: s, changed: changed, policies: map[string]*policy{}, bindings: map[string]B{}}
	if s.files != nil {
		known.static = s.files.Value()
		go func() {
			ticker := time.NewTicker(reload.Every)
			defer ticker.Stop()
			s.files.Follow(ctx, ticker.C, s.log, "static manifests of admission policies", known.takeFiles)
		}()
	}
	policies, err := reach.Of[P](ctx)
	if err != nil {
		known.takeNothing()
		return nil //nolint:nilerr // The server doesn't serve them.
	}
	bindings, err := reach.Of[B](ctx)
	if err != nil {
		return err
	}
	failed := make(chan error, 2)
	go func() { failed <- policies.Follow(ctx, "", known.takePolicies) }()
	go func() { failed <- bindings.Follow(ctx, "", known.takeBindings) }()
	err = <-failed
	if ctx.Err() == nil {
		return fmt.Errorf("following admission policies: %w", err)
	}
	return errors.Join(err, <-failed)
}

func (s *source[P, B]) publish(next *set, changed func()) {
	first := s.set.Swap(next) == nil
	changed()
	if first {
		close(s.ready)
	}
}
