package server

import (
	"net/http"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/filter"
	"apigen.dev/runtime/internal/request"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// chain returns the handler with all filters, the outermost first. The order is kube-apiserver's, because it decides
// which error a client gets: 503 during a shutdown comes before 401, 401 before 429, and 429 before 403.
func (s *Server) chain(handler http.Handler, metrics *metrics, longRunning func(*request.Info) bool) http.Handler {
	who := s.authentication()
	who.Certificates = metrics.attempts.Certificates(who.Certificates)
	return filter.Chain(handler,
		filter.Stack(),
		filter.AuditID(),
		filter.Recover(s.config.Log),
		filter.RequestInfo(longRunning, s.config.Auditor),
		filter.StrictTransport(s.config.StrictTransport),
		filter.CacheControl(),
		filter.Observe(append([]func(filter.Observation){metrics.requests.Observe}, s.config.Observers...)...),
		filter.AuditAnswers(),
		filter.GoAway(s.config.GoAwayChance),
		s.drain.Filter(isHealth),
		filter.Deadline(s.config.RequestTimeout),
		filter.CORS(s.config.AllowedOrigins),
		s.config.Guard,
		filter.Authenticate(metrics.attempts.Authenticator(internal{who}), s.config.Log),
		filter.Trace(s.config.Tracer),
		filter.Audit(),
		filter.Impersonate(metrics.impersonation.Authorizer(s.config.Authorizer), metrics.impersonation.Attempted),
		s.bounds(),
		filter.Authorize(ownRequests{metrics.attempts.Authorizer(s.config.Authorizer)}),
		filter.Progress(s.config.RequestTimeout),
	)
}

// bounds returns the filter that bounds the requests in progress.
func (s *Server) bounds() filter.Filter {
	if s.config.Fairness != nil {
		return s.config.Fairness(s.size)
	}
	return filter.MaxInFlight(s.config.MaxReads, s.config.MaxWrites, isHealth)
}

// size returns the number of objects of a resource, and the sum of their sizes in bytes; false if it isn't known.
func (s *Server) size(group, resource string) (objects, bytes int64, known bool) {
	m := s.table.Load().measured[schema.GroupResource{Group: group, Resource: resource}]
	if m == nil {
		return 0, 0, false
	}
	return m.Size()
}

func isHealth(path string) bool {
	for _, root := range []string{"/livez", "/readyz", "/healthz"} {
		if rest, ok := strings.CutPrefix(path, root); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// healthPaths are the paths of health checks, which everybody may read by default.
var healthPaths = []string{"/healthz", "/healthz/*", "/livez", "/livez/*", "/readyz", "/readyz/*"}

// anonymousHealth lets reads of health checks be anonymous, and nothing else.
func anonymousHealth(r *http.Request) *auth.User {
	if (r.Method == http.MethodGet || r.Method == http.MethodHead) && isHealth(r.URL.Path) {
		return auth.AnonymousUser
	}
	return nil
}
