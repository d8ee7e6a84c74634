package server

import (
	"net/http"
	"strings"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/filter"
	"apigen.dev/runtime/request"
)

// chain returns the handler with all filters, the outermost first. The order is kube-apiserver's, because it decides
// which error a client gets: 503 during a shutdown comes before 401, 401 before 429, and 429 before 403.
func (s *Server) chain(handler http.Handler, metrics *metrics, longRunning func(*request.Info) bool) http.Handler {
	who := s.authentication()
	who.Certificates = metrics.attempts.certificates(who.Certificates)
	return filter.Chain(handler,
		filter.Stack(),
		filter.AuditID(s.config.Auditor),
		filter.Recover(s.config.Log),
		filter.RequestInfo(longRunning),
		filter.CacheControl(),
		filter.Observe(metrics.observe),
		filter.AuditAnswers(),
		s.drain.Filter(isHealth),
		filter.Deadline(s.config.RequestTimeout),
		filter.Authenticate(metrics.attempts.authenticator(internal{who}), s.config.Log),
		filter.Audit(),
		filter.Impersonate(s.config.Authorizer),
		filter.MaxInFlight(s.config.MaxReads, s.config.MaxWrites, isHealth),
		filter.Authorize(metrics.attempts.authorizer(s.config.Authorizer)),
	)
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
