// Package quota is the admission plug-in ResourceQuota: no namespace has more than its quotas allow, by number of
// objects of any kind, or by what pods, services and claims of volumes ask for.
//
// Unlike kube-apiserver's, which leaves it to a controller to see what became free, the plug-in itself gives back what
// a deletion frees or what a refused write was charged. A hook fills in the status of new quotas, and repairs the usage
// of quotas that nobody charges for a while. So usage is never lower than what is in use: several servers never let a
// namespace have more than its quota.
//
// It may know packages admission, auth, reach, registry and server.
package quota

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/server"
	"github.com/spf13/pflag"
	core "k8s.io/api/core/v1"
)

// Feature brings the plug-in into a server, and does nothing in one that serves no kind ResourceQuota.
type Feature struct {
	limited []LimitedResource
	ledger  ledger
	known   known
}

// LimitedResource names what only quotas allow: an object that uses it needs a quota that counts it. It is that of
// kube-apiserver's configuration of the plug-in.
type LimitedResource struct {
	APIGroup      string   `json:"apiGroup,omitempty"`
	Resource      string   `json:"resource"`
	MatchContains []string `json:"matchContains,omitempty"`
	// MatchScopes are scopes: an object in one of them needs a quota with that scope.
	MatchScopes []core.ScopedResourceSelectorRequirement `json:"matchScopes,omitempty"`
}

// Groups implements server.Feature.
func (*Feature) Groups() []registry.Group { return nil }

// AddFlags implements server.Feature.
func (*Feature) AddFlags(*pflag.FlagSet) {}

// Configure implements server.Feature.
func (f *Feature) Configure(context.Context, *server.Config) (server.Contribution, error) {
	f.ledger.waiting, f.ledger.working = map[string][]*entry{}, map[string]bool{}
	f.known.init()
	return server.Contribution{
		Admission: []admission.Plugin{{
			Name: "ResourceQuota", Handles: f.handles, Validate: f.validate, Configure: f.configure,
		}},
		Hooks: []server.Hook{{Name: "resource-quota", Run: f.run}},
	}, nil
}

// configuration is kube-apiserver's configuration of the plug-in.
type configuration struct {
	APIVersion       string            `json:"apiVersion"`
	Kind             string            `json:"kind"`
	LimitedResources []LimitedResource `json:"limitedResources"`
}

func (f *Feature) configure(data []byte, _ string) error {
	var config configuration
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&config); err != nil {
		return err
	}
	if config.Kind != "ResourceQuotaConfiguration" && config.Kind != "Configuration" {
		return fmt.Errorf("its kind is %q: write ResourceQuotaConfiguration", config.Kind)
	}
	f.limited = config.LimitedResources
	return nil
}

// handles passes over what belongs to no namespace, namespaces themselves, and what quota doesn't count.
func (f *Feature) handles(a *admission.Attributes) bool {
	gr := a.Resource.GroupResource()
	return a.Namespace != "" && a.Operation != admission.Connect && !ignored[gr] &&
		!(gr.Group == "" && gr.Resource == "namespaces")
}

func (f *Feature) validate(ctx context.Context, a *admission.Attributes) error {
	limits, err := f.limits(ctx, a.Namespace)
	if err != nil {
		return err
	}
	if !limits && len(f.limited) == 0 {
		return nil
	}
	if a.Operation == admission.Delete {
		f.credit(a)
		return nil
	}
	d := newDemand(a, f.limited)
	switch {
	case d == nil:
		f.credit(a)
		return nil
	case a.DryRun:
		return f.try(ctx, a.Namespace, d)
	}
	e, err := f.ledger.charge(ctx, a.Namespace, d)
	if err != nil {
		return err
	}
	a.OnOutcome(f.ledger.settled(a.Namespace, e))
	f.credit(a)
	return nil
}

// limits reports whether a namespace has quotas. A server without the kind has none.
func (f *Feature) limits(ctx context.Context, namespace string) (bool, error) {
	if _, err := reach.Of[*core.ResourceQuota](ctx); err != nil {
		return false, nil //nolint:nilerr // The server has no such kind.
	}
	if !f.known.wait(ctx) {
		return false, errors.New("not yet ready to handle request")
	}
	return f.known.has(namespace), nil
}

// try reports whether a write that won't be stored would be refused.
func (f *Feature) try(ctx context.Context, namespace string, d *demand) error {
	quotas, err := reach.Of[*core.ResourceQuota](ctx)
	if err != nil {
		return err
	}
	present, err := quotas.List(ctx, namespace, nil)
	if err == nil {
		_, err = d.charges(present)
	}
	return err
}

// credit gives back, after the write, what an object used that is gone, or by how much an object uses less.
func (f *Feature) credit(a *admission.Attributes) {
	if a.Old == nil || a.DryRun {
		return
	}
	old, gr := a.Old.Value(), a.Resource.GroupResource()
	m := measureOf(gr, old)
	before := m.usage(old)
	var after core.ResourceList
	if a.Object != nil {
		after = m.usage(a.Object.Value())
	}
	a.OnOutcome(func(_ context.Context, outcome admission.Outcome) {
		var freed core.ResourceList
		switch outcome {
		case admission.Removed:
			freed = before
		case admission.Written:
			if a.Object != nil {
				freed = growth(before, after)
			}
		}
		if len(freed) == 0 {
			return
		}
		d := demand{resource: gr, measure: m}
		f.ledger.give(a.Namespace, func(quota *core.ResourceQuota) core.ResourceList {
			if names, err := d.concerns(quota, old); err != nil || len(names) == 0 {
				return nil
			}
			return freed
		})
	})
}
