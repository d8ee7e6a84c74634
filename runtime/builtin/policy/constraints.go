package policy

import (
	"context"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	registration "k8s.io/api/admissionregistration/v1"
)

// constraints tell which writes a policy or a binding concerns.
type constraints struct {
	// rules are nil where all resources match.
	rules     *match.Rules
	excludes  *match.Rules
	selectors match.Selectors
	// err is that of a selector that can't be parsed.
	err error
}

// newConstraints returns the constraints of match; nil constrains nothing.
func newConstraints(m *registration.MatchResources) *constraints {
	c := &constraints{}
	if m == nil {
		return c
	}
	equivalent := match.IsEquivalent(m.MatchPolicy)
	if len(m.ResourceRules) > 0 {
		c.rules = &match.Rules{All: m.ResourceRules, Equivalent: equivalent}
	}
	if len(m.ExcludeResourceRules) > 0 {
		c.excludes = &match.Rules{All: m.ExcludeResourceRules, Equivalent: equivalent}
	}
	c.selectors, c.err = match.NewSelectors(m.NamespaceSelector, m.ObjectSelector)
	return c
}

// find reports whether a write is concerned, and the form of the object that matched.
func (c *constraints) find(
	ctx context.Context, a *admission.Attributes, n match.Namespaces,
) (form admission.Form, matches bool, err error) {
	form, matches = admission.Form{Resource: a.Resource, Kind: a.Kind}, true
	if c.rules != nil {
		form, matches = c.rules.Find(a)
	}
	if !matches {
		return form, false, nil
	}
	if c.excludes != nil {
		if _, excluded := c.excludes.Find(a); excluded {
			return form, false, nil
		}
	}
	if c.err != nil {
		return form, false, c.err
	}
	if !c.selectors.MatchObject(a) {
		return form, false, nil
	}
	matches, err = c.selectors.MatchNamespace(ctx, a, n)
	return form, matches, err
}
