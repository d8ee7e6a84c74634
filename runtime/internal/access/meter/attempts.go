package meter

import (
	"context"
	"net/http"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"github.com/prometheus/client_golang/prometheus"
)

// Attempts has the metrics of the authentication and authorization of requests. All their series are made at the start,
// so that a request allocates nothing for them.
type Attempts struct {
	collectors
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

func (r results) observe(name string, begin time.Time) { r[name].observe(begin) }

func (r result) observe(begin time.Time) {
	r.count.Inc()
	r.duration.Observe(time.Since(begin).Seconds())
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

// NewAttempts makes the metrics.
func NewAttempts() *Attempts {
	var seconds []float64
	for _, lifetime := range lifetimes {
		seconds = append(seconds, lifetime.Seconds())
	}
	a := &Attempts{
		users: map[string]prometheus.Counter{},
		expiration: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "apiserver_client_certificate_expiration_seconds",
			Help: "Time that was left of the client certificates of requests.", Buckets: seconds,
		}),
	}
	a.authenticated = a.results("authentication", "authentication_attempts", success, failure, failed)
	a.authorized = a.results("authorization", "authorization_attempts_total", allowed, denied, noOpinion, failed)
	users := counters("authenticated_user_requests", "Authenticated requests, by the kind of user.", "username")
	for _, name := range knownUsers {
		a.users[name] = users.WithLabelValues(name)
	}
	a.collectors = append(a.collectors, users, a.expiration)
	return a
}

// results makes the two metrics of attempts of a kind.
func (a *Attempts) results(what, count string, names ...string) results {
	counts := counters(count, "Requests that came to "+what+", by its result.", "result")
	durations := histograms(what+"_duration_seconds", "Duration of the "+what+" of requests, by its result.", quick,
		"result")
	a.collectors = append(a.collectors, counts, durations)
	all := results{}
	for _, name := range names {
		all[name] = result{counts.WithLabelValues(name), durations.WithLabelValues(name)}
	}
	return all
}

// quick are the buckets of what takes little time.
var quick = prometheus.ExponentialBuckets(.001, 2, 15)

// Authenticator measures an authenticator of requests.
func (a *Attempts) Authenticator(of auth.Authenticator) auth.Authenticator { return measured{of, a} }

type measured struct {
	auth.Authenticator
	*Attempts
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

func (a *Attempts) user(name string) prometheus.Counter {
	if counter := a.users[name]; counter != nil {
		return counter
	}
	if strings.Contains(name, "@") {
		return a.users["email_id"]
	}
	return a.users["other"]
}

// Certificates measures the client certificates that an authenticator looks at; it returns nil for nil.
func (a *Attempts) Certificates(of auth.Authenticator) auth.Authenticator {
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

// Authorizer measures an authorizer of requests.
func (a *Attempts) Authorizer(of auth.Authorizer) auth.Authorizer { return deciding{of, a.authorized} }

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
