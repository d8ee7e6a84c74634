package meter

import "github.com/prometheus/client_golang/prometheus"

// Accounts has the metrics of the tokens of service accounts whose life was extended: a client should replace such a
// token long before it expires.
type Accounts struct {
	collectors
	valid, stale prometheus.Counter
}

// NewAccounts makes the metrics.
func NewAccounts() *Accounts {
	counter := func(name, help string) prometheus.Counter {
		return prometheus.NewCounter(prometheus.CounterOpts{
			Name: "serviceaccount_" + name + "_tokens_total", Help: help,
		})
	}
	a := &Accounts{
		valid: counter("valid", "Uses of extended tokens of service accounts that need not be replaced yet."),
		stale: counter("stale", "Uses of extended tokens of service accounts that should have been replaced."),
	}
	a.collectors = collectors{a.valid, a.stale}
	return a
}

// Extended counts a use of an extended token, which is stale if its client should have replaced it. Nothing happens on
// nil.
func (a *Accounts) Extended(stale bool) {
	switch {
	case a == nil:
	case stale:
		a.stale.Inc()
	default:
		a.valid.Inc()
	}
}
