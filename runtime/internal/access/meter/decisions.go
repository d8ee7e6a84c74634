package meter

import (
	"context"

	"apigen.dev/runtime/auth"
	"github.com/prometheus/client_golang/prometheus"
)

// Decisions has the metric of what the authorizers decide of which a server's authorizer consists.
type Decisions struct{ *prometheus.CounterVec }

// NewDecisions makes the metric.
func NewDecisions() *Decisions {
	return &Decisions{counters("apiserver_authorization_decisions_total",
		"Requests that an authorizer allowed or denied, by its type and name.", "type", "name", "decision")}
}

// Authorizer measures an authorizer, which has a type and a name in an AuthorizationConfiguration. The result lists
// rules if the authorizer does.
func (d *Decisions) Authorizer(kind, name string, of auth.Authorizer) auth.Authorizer {
	return &decisive{
		Authorizer: of, allowed: d.WithLabelValues(kind, name, allowed), denied: d.WithLabelValues(kind, name, denied),
	}
}

// decisive is an authorizer whose decisions are counted.
type decisive struct {
	auth.Authorizer
	allowed, denied prometheus.Counter
}

// Authorize implements auth.Authorizer.
func (d *decisive) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	decision, reason, err := d.Authorizer.Authorize(ctx, a)
	switch decision {
	case auth.Allow:
		d.allowed.Inc()
	case auth.Deny:
		d.denied.Inc()
	}
	return decision, reason, err
}

// RulesFor implements auth.RuleResolver.
func (d *decisive) RulesFor(ctx context.Context, user *auth.User, namespace string) (auth.Rules, bool, error) {
	if resolver, ok := d.Authorizer.(auth.RuleResolver); ok {
		return resolver.RulesFor(ctx, user, namespace)
	}
	return auth.Rules{}, false, nil
}
