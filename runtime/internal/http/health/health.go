// Package health answers /livez, /readyz and /healthz as kube-apiserver does, and counts what it answered in the
// metrics that monitoring computes service levels from.
//
// It may know packages auth and storage.
package health

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"github.com/prometheus/client_golang/prometheus"
)

// Check is a part of a server that may be unhealthy.
type Check struct {
	// Name is how clients ask for the check alone, or exclude it.
	Name string
	// Ask returns nil if the part is healthy. Requests call it concurrently.
	Ask func(ctx context.Context) error
}

// After returns a check that passes until a time.
func (c Check) After(begin time.Time) Check {
	return Check{c.Name, func(ctx context.Context) error {
		if time.Now().Before(begin) {
			return nil
		}
		return c.Ask(ctx)
	}}
}

// The paths of health checks.
const (
	livez   = "livez"
	readyz  = "readyz"
	healthz = "healthz"
)

// Handler answers health checks: with "ok", or with 500 and the failed checks. ?verbose lists all checks,
// ?exclude=<check> leaves one out, and /readyz/<check> runs one alone. Only authenticated users are shown the error of
// a check.
type Handler struct {
	checks   map[string][]Check
	registry *prometheus.Registry
	state    *prometheus.GaugeVec
	answers  *prometheus.CounterVec
}

// New returns the handler of the checks of /livez, /readyz and /healthz.
func New(live, ready, healthy []Check) *Handler {
	h := &Handler{
		checks:   map[string][]Check{livez: live, readyz: ready, healthz: healthy},
		registry: prometheus.NewRegistry(),
		state: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "kubernetes_healthcheck", Help: "1 if the health check passed when it was last asked, else 0.",
		}, []string{"name", "type"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "kubernetes_healthchecks_total", Help: "Health checks that were asked, by their results.",
		}, []string{"name", "type", "status"}),
	}
	h.registry.MustRegister(h.state, h.answers)
	return h
}

// ServeHTTP answers a health check.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	endpoint, single, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	checks := h.checks[endpoint]
	if single != "" {
		at := slices.IndexFunc(checks, func(c Check) bool { return c.Name == single })
		if at < 0 {
			http.Error(w, fmt.Sprintf("there is no check %q", single), http.StatusNotFound)
			return
		}
		checks = checks[at : at+1]
	}
	report, healthy := h.examine(r, endpoint, checks)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, verbose := r.URL.Query()["verbose"]
	switch {
	case !healthy:
		w.WriteHeader(http.StatusInternalServerError)
		fmt.Fprintf(w, "%s%s check failed\n", report, endpoint)
	case verbose:
		fmt.Fprintf(w, "%s%s check passed\n", report, endpoint)
	default:
		fmt.Fprint(w, "ok")
	}
}

// examine runs the checks that the request does not exclude.
func (h *Handler) examine(r *http.Request, endpoint string, checks []Check) (report string, healthy bool) {
	excluded := r.URL.Query()["exclude"]
	user := auth.UserFrom(r.Context())
	tell := user != nil && !slices.Contains(user.Groups, auth.Unauthenticated)
	var text strings.Builder
	healthy = true
	for _, c := range checks {
		if slices.Contains(excluded, c.Name) {
			fmt.Fprintf(&text, "[+]%s excluded: ok\n", c.Name)
			continue
		}
		err := c.Ask(r.Context())
		h.count(c.Name, endpoint, err == nil)
		switch {
		case err == nil:
			fmt.Fprintf(&text, "[+]%s ok\n", c.Name)
		case tell:
			fmt.Fprintf(&text, "[-]%s failed: %v\n", c.Name, err)
		default:
			fmt.Fprintf(&text, "[-]%s failed: reason withheld\n", c.Name)
		}
		healthy = healthy && err == nil
	}
	if unknown := unmatched(excluded, checks); len(unknown) > 0 {
		fmt.Fprintf(&text, "warn: some health checks cannot be excluded: no matches for %s\n",
			strings.Join(unknown, ","))
	}
	return text.String(), healthy
}

// unmatched returns the excluded names that no check has, quoted.
func unmatched(excluded []string, checks []Check) (names []string) {
	for _, name := range excluded {
		if !slices.ContainsFunc(checks, func(c Check) bool { return c.Name == name }) {
			names = append(names, fmt.Sprintf("%q", name))
		}
	}
	return names
}

func (h *Handler) count(name, endpoint string, passed bool) {
	value, status := 0.0, "error"
	if passed {
		value, status = 1, "success"
	}
	h.state.WithLabelValues(name, endpoint).Set(value)
	h.answers.WithLabelValues(name, endpoint, status).Inc()
}

// SLIs returns the metrics of /metrics/slis. They are known once a check was asked.
func (h *Handler) SLIs() prometheus.Gatherer { return h.registry }
