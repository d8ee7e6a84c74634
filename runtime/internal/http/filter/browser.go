package filter

import (
	"net/http"
	"regexp"
	"strings"
)

// StrictTransport tells browsers, in the header Strict-Transport-Security, to use nothing but TLS for this host. It
// returns nil if there are no directives.
func StrictTransport(directives []string) Filter {
	if len(directives) == 0 {
		return nil
	}
	value := []string{strings.Join(directives, "; ")}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header()["Strict-Transport-Security"] = value
			next.ServeHTTP(w, r)
		})
	}
}

// CORS lets the scripts of pages from other origins, which match one of the expressions, read answers. It answers their
// preflight requests itself, which have no credentials. The headers are kube-apiserver's. It returns nil if there are
// no expressions.
func CORS(origins []*regexp.Regexp) Filter {
	if len(origins) == 0 {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			origin := r.Header.Get("Origin")
			if origin == "" || !matchesAny(origins, origin) {
				next.ServeHTTP(w, r)
				return
			}
			header := w.Header()
			header.Add("Vary", "Origin")
			header.Set("Access-Control-Allow-Origin", origin)
			header.Set("Access-Control-Allow-Methods", "POST, GET, OPTIONS, PUT, DELETE, PATCH")
			header.Set("Access-Control-Allow-Headers", "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, "+
				"Authorization, X-Requested-With, If-Modified-Since")
			header.Set("Access-Control-Expose-Headers", "Date")
			header.Set("Access-Control-Allow-Credentials", "true")
			if r.Method == http.MethodOptions {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

func matchesAny(expressions []*regexp.Regexp, text string) bool {
	for _, expression := range expressions {
		if expression.MatchString(text) {
			return true
		}
	}
	return false
}
