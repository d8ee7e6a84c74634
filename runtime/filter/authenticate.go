package filter

import (
	"log/slog"
	"net/http"
	"slices"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Authenticate finds out who sends a request. Without credentials, or with wrong ones, the answer is 401, but for the
// paths that public names: health checks, which anybody may read. What is wrong with credentials the client is not told; log
// hears of it at debug level, since anybody may send them.
func Authenticate(authenticator auth.Authenticator, public func(path string) bool, log *slog.Logger) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			user, err := authenticator.Authenticate(r)
			if err != nil {
				log.DebugContext(r.Context(), "a client could not be authenticated", "client", r.RemoteAddr, "error", err)
			}
			switch {
			case err == nil && user != nil:
				user = withGroup(user, auth.Authenticated)
			case isRead(r) && public(r.URL.Path):
				user = &auth.User{Name: auth.Anonymous, Groups: []string{auth.Unauthenticated}}
			default:
				w.Header().Set("WWW-Authenticate", "Bearer")
				endpoint.WriteStatus(w, r, apierrors.NewUnauthorized("Unauthorized"))
				return
			}
			// What proved the user is nobody else's business: a proxy behind us must not pass it on.
			r.Header.Del("Authorization")
			next.ServeHTTP(w, r.WithContext(auth.WithUser(r.Context(), user)))
		})
	}
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func withGroup(user *auth.User, group string) *auth.User {
	if slices.Contains(user.Groups, group) {
		return user
	}
	copied := *user
	copied.Groups = append(slices.Clip(slices.Clone(user.Groups)), group)
	return &copied
}
