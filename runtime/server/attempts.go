package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"github.com/prometheus/client_golang/prometheus"
)

// attempts are the metrics of authentication and authorization, with kube-apiserver's names, labels and buckets. All
// their series are made at the start, so that a request allocates nothing for them.
type attempts struct {
	authenticated, authorized results
	users                     map[string]prometheus.Counter
	// expiration has the time that was left of the client certificate of each request.
	expiration prometheus.Histogram
}

// results counts attempts and their durations, by their results.
type results map[string]result

type result struct {
	count    prometheus.Counter
	duration prometheus.Observer
}

func (r results) observe(name string, begin time.Time) {
	of := r[name]
	of.count.Inc()
	of.duration.Observe(time.Since(begin).Seconds())
}

// The results of attempts.
const (
	success, failure, failed   = "success", "failure", "error"
	allowed, denied, noOpinion = "allowed", "denied", "no-opinion"
)

// knownUsers are the values of the label of authenticated_user_requests, since a metric must neither tell who the users
// are nor grow with their number.
var knownUsers = []string{
	"admin", "client", "kube_proxy", "kubelet", "system:serviceaccount:kube-system:default", "email_id", "other",
}

const day = 24 * time.Hour

// lifetimes are the buckets of what is left of a client certificate.
var lifetimes = []time.Duration{
	0, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, day, 2 * day, 4 * day, 7 * day,
	30 * day, 90 * day, 180 * day, 360 * day,
}

func newAttempts(registry *prometheus.Registry) *attempts {
	var seconds []float64
	for _, lifetime := range lifetimes {
		seconds = append(seconds, lifetime.Seconds())
	}
	a := &attempts{
		users: map[string]prometheus.Counter{},
		expiration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "apiserver_client_certificate_expiration_seconds",
			Help: "Time that was left of the client certificates of requests.", Buckets: seconds,
		}),
	}
	a.authenticated = newResults(registry, "authentication", "authentication_attempts", success, failure, failed)
	a.authorized = newResults(registry, "authorization", "authorization_attempts_total", allowed, denied, noOpinion,
		failed)
	users := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "authenticated_user_requests", Help: "Authenticated requests, by the kind of user.",
	}, []string{"username"})
	for _, name := range knownUsers {
		a.users[name] = users.WithLabelValues(name)
	}
	registry.MustRegister(users, a.expiration)
	return a
}

func newResults(registry *prometheus.Registry, what, count string, names ...string) results {
	counts := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: count, Help: "Requests that came to " + what + ", by its result.",
	}, []string{"result"})
	durations := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: what + "_duration_seconds", Help: "Duration of the " + what + " of requests, by its result.",
		Buckets: prometheus.ExponentialBuckets(.001, 2, 15),
	}, []string{"result"})
	registry.MustRegister(counts, durations)
	all := results{}
	for _, name := range names {
		all[name] = result{counts.WithLabelValues(name), durations.WithLabelValues(name)}
	}
	return all
}

// authenticator measures an authenticator of requests.
func (a *attempts) authenticator(of auth.Authenticator) auth.Authenticator { return measured{of, a} }

type measured struct {
	auth.Authenticator
	*attempts
}

// Authenticate implements auth.Authenticator.
func (m measured) Authenticate(r *http.Request) (*auth.User, error) {
	begin := time.Now()
	user, err := m.Authenticator.Authenticate(r)
	switch {
	case err != nil:
		m.authenticated.observe(failed, begin)
	case user == nil:
		m.authenticated.observe(failure, begin)
	default:
		m.authenticated.observe(success, begin)
		m.user(user.Name).Inc()
	}
	return user, err
}

func (a *attempts) user(name string) prometheus.Counter {
	if counter := a.users[name]; counter != nil {
		return counter
	}
	if strings.Contains(name, "@") {
		return a.users["email_id"]
	}
	return a.users["other"]
}

// certificates measures the client certificates that an authenticator looks at; it returns nil for nil.
func (a *attempts) certificates(of auth.Authenticator) auth.Authenticator {
	if of == nil {
		return nil
	}
	return expiring{of, a.expiration}
}

type expiring struct {
	auth.Authenticator
	expiration prometheus.Histogram
}

// Authenticate implements auth.Authenticator.
func (e expiring) Authenticate(r *http.Request) (*auth.User, error) {
	if r.TLS != nil && len(r.TLS.PeerCertificates) > 0 {
		e.expiration.Observe(time.Until(r.TLS.PeerCertificates[0].NotAfter).Seconds())
	}
	return e.Authenticator.Authenticate(r)
}

// authorizer measures an authorizer of requests.
func (a *attempts) authorizer(of auth.Authorizer) auth.Authorizer { return deciding{of, a.authorized} }

type deciding struct {
	auth.Authorizer
	results
}

// Authorize implements auth.Authorizer.
func (d deciding) Authorize(ctx context.Context, a auth.Attributes) (auth.Decision, string, error) {
	begin := time.Now()
	decision, reason, err := d.Authorizer.Authorize(ctx, a)
	switch {
	case decision == auth.Allow:
		d.observe(allowed, begin)
	case err != nil:
		d.observe(failed, begin)
	case decision == auth.Deny:
		d.observe(denied, begin)
	default:
		d.observe(noOpinion, begin)
	}
	return decision, reason, err
}
