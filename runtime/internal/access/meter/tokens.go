package meter

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TokenCache has the metrics of the caches of tokens. All caches of a server count in the same ones, so that a token
// that the first authenticator doesn't know is a request to the cache of the second one, too.
type TokenCache struct {
	collectors
	hits, misses    result
	ok, failed      prometheus.Counter
	active, blocked prometheus.Gauge
}

// NewTokenCache makes the metrics.
func NewTokenCache() *TokenCache {
	const prefix = "authentication_token_cache_"
	requests := counters(prefix+"request_total", "Requests with a token, by whether a cache of tokens knew it.",
		"status")
	durations := histograms(prefix+"request_duration_seconds",
		"Duration of the authentication of tokens, by whether a cache knew the token.", prometheus.DefBuckets, "status")
	fetches := counters(prefix+"fetch_total", "Tokens that a cache asked its authenticator for, by the outcome.",
		"status")
	active := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: prefix + "active_fetch_count",
		Help: "Questions of caches to authenticators (in_flight), and requests that wait for the answers (blocked)."},
		[]string{"status"})
	of := func(status string) result {
		return result{requests.WithLabelValues(status), durations.WithLabelValues(status)}
	}
	return &TokenCache{
		collectors: collectors{requests, durations, fetches, active}, hits: of("hit"), misses: of("miss"),
		ok: fetches.WithLabelValues("ok"), failed: fetches.WithLabelValues(failed),
		active: active.WithLabelValues("in_flight"), blocked: active.WithLabelValues("blocked"),
	}
}

// Hit counts a request whose token a cache knew. Nothing happens on nil.
func (t *TokenCache) Hit(begin time.Time) {
	if t != nil {
		t.hits.observe(begin)
	}
}

// Miss counts a request that waits for an authenticator, until the caller calls the result. Nothing happens on nil.
func (t *TokenCache) Miss(begin time.Time) (done func()) {
	if t == nil {
		return func() {}
	}
	t.blocked.Inc()
	return func() {
		t.blocked.Dec()
		t.misses.observe(begin)
	}
}

// Fetch counts a question to an authenticator, until the caller calls the result. Nothing happens on nil.
func (t *TokenCache) Fetch() (done func(err error)) {
	if t == nil {
		return func(error) {}
	}
	t.active.Inc()
	return func(err error) {
		t.active.Dec()
		if err != nil {
			t.failed.Inc()
			return
		}
		t.ok.Inc()
	}
}
