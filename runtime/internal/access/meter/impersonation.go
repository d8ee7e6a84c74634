package meter

import (
	"context"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"github.com/prometheus/client_golang/prometheus"
)

// Impersonation has the metrics of requests that act for another user.
type Impersonation struct {
	collectors
	attempts, authorizations                 *prometheus.CounterVec
	attemptDurations, authorizationDurations *prometheus.HistogramVec
}

// NewImpersonation makes the metrics.
func NewImpersonation() *Impersonation {
	const prefix = "apiserver_impersonation_"
	labels := []string{"mode", "decision"}
	i := &Impersonation{
		attempts: counters(prefix+"attempts_total", "Requests that act for another user, by the mode that allowed it.",
			labels...),
		attemptDurations: histograms(prefix+"attempts_duration_seconds",
			"Duration of the decision whether a request may act for another user.", quick, labels...),
		authorizations: counters(prefix+"authorization_attempts_total",
			"Questions to the authorizer whether a request may act for another user.", labels...),
		authorizationDurations: histograms(prefix+"authorization_attempts_duration_seconds",
			"Duration of questions to the authorizer whether a request may act for another user.", quick, labels...),
	}
	i.collectors = collectors{i.attempts, i.attemptDurations, i.authorizations, i.authorizationDurations}
	return i
}

// Attempted counts a request that acts for another user, or was refused to: err is not nil, and the verb is empty. verb
// is the one that a constrained mode needs; it is empty for the verb impersonate, too.
func (i *Impersonation) Attempted(verb string, took time.Duration, err error) {
	mode, decision := modeOf(verb), allowed
	if err != nil {
		mode, decision = "", denied
	}
	i.attempts.WithLabelValues(mode, decision).Inc()
	i.attemptDurations.WithLabelValues(mode, decision).Observe(took.Seconds())
}

// Authorizer measures the authorizer that is asked who may act for whom.
func (i *Impersonation) Authorizer(of auth.Authorizer) auth.Authorizer { return impersonating{of, i} }

type impersonating struct {
	auth.Authorizer
	*Impersonation
}

// Authorize implements auth.Authorizer.
func (i impersonating) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	begin := time.Now()
	decision, reason, err := i.Authorizer.Authorize(ctx, a)
	label := denied
	if decision == auth.Allow {
		label = allowed
	}
	mode := modeOf(a.Verb)
	i.authorizations.WithLabelValues(mode, label).Inc()
	i.authorizationDurations.WithLabelValues(mode, label).Observe(time.Since(begin).Seconds())
	return decision, reason, err
}

// modeOf returns the mode of a verb: impersonate, impersonate:MODE, or impersonate-on:MODE:VERB.
func modeOf(verb string) string {
	_, rest, constrained := strings.Cut(verb, ":")
	if !constrained {
		return "legacy"
	}
	mode, _, _ := strings.Cut(rest, ":")
	return mode
}
