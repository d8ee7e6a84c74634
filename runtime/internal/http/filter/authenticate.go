package filter

import (
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/timing"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Authenticate finds the user of a request. It answers 401 to a request without credentials, unless the authenticator
// lets it be anonymous, and to one with wrong credentials. It doesn't tell the client what is wrong with credentials.
// It logs that at debug level, because everybody can send wrong credentials. As in kube-apiserver, the 401 ends a
// connection of HTTP/2, over which a client without credentials could have hundreds of requests at once. When there are
// many refusals, each waits for its turn, and also ends a connection of HTTP/1.1. Otherwise that stays, because another
// one costs more than many refusals.
func Authenticate(authenticator auth.Authenticator, log *slog.Logger) Filter {
	var refused refusals
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			began := time.Now()
			user, err := authenticator.Authenticate(r)
			timing.End(r.Context(), timing.Authentication, "", began)
			if err != nil {
				log.DebugContext(r.Context(), "a client could not be authenticated",
					"client", r.RemoteAddr, "error", err)
			}
			if err == nil && (user == nil || user == auth.AnonymousUser) && spacedToken(r) {
				respond.AddWarnings(w.Header(), []string{ignoredToken})
			}
			if err != nil || user == nil {
				w.Header().Set("WWW-Authenticate", "Bearer")
				if waited := refused.pause(r.Context()); waited || r.ProtoMajor == 2 {
					w.Header().Set("Connection", "close") // net/http sends GOAWAY over HTTP/2, and no such header
				}
				respond.Error(w, r, errUnauthorized)
				return
			}
			// No handler needs the credentials any more, and one that forwards the request must not forward them.
			r.Header.Del("Authorization")
			removeProxyHeaders(r.Header)
			next.ServeHTTP(w, withUser(r, grouped(user)))
		})
	}
}

// errUnauthorized says nothing about the credentials.
var errUnauthorized = apierrors.NewUnauthorized("Unauthorized")

const ignoredToken = "the provided Authorization header contains extra space before the bearer token, and is ignored"

// spacedToken reports whether a token was ignored because more than one space is in front of it.
func spacedToken(r *http.Request) bool {
	scheme, rest, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	return strings.EqualFold(scheme, "Bearer") && strings.HasPrefix(rest, " ")
}

// grouped returns the user with the group that all users have but the anonymous one, whatever the credentials are by
// which a user is called that.
func grouped(user *auth.User) *auth.User {
	if user.Name == auth.Anonymous || slices.Contains(user.Groups, auth.Unauthenticated) {
		return user
	}
	return withGroup(user, auth.Authenticated)
}

func isRead(r *http.Request) bool { return r.Method == http.MethodGet || r.Method == http.MethodHead }

func withGroup(user *auth.User, group string) *auth.User {
	if slices.Contains(user.Groups, group) {
		return user
	}
	copied := *user
	copied.Groups = slices.Concat(user.Groups, []string{group})
	return &copied
}
