package zpages

import (
	"net/http"
	"net/http/pprof"
)

// Profiles are the pages of /debug/pprof that have handlers of their own. The index has all others.
func Profiles() map[string]http.Handler {
	return map[string]http.Handler{
		"/debug/pprof/cmdline": http.HandlerFunc(pprof.Cmdline),
		"/debug/pprof/profile": http.HandlerFunc(pprof.Profile),
		"/debug/pprof/symbol":  http.HandlerFunc(pprof.Symbol),
		"/debug/pprof/trace":   http.HandlerFunc(pprof.Trace),
	}
}
