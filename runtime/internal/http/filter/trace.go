package filter

import (
	"net/http"
	"slices"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/timing"
)

// Tracer makes spans of requests. It is safe for concurrent use.
type Tracer interface {
	// Start begins the span of a request that began earlier, and returns the request to serve, and nil if the span is
	// not recorded. trusted reports whether the span that the client names in its headers may be the parent; otherwise
	// it is only linked.
	Start(r *http.Request, began time.Time, auditID string, trusted bool) (*http.Request, Span)
}

// Span is the span of a request that is recorded. It is safe for concurrent use.
type Span interface {
	// Part adds a span of a part of the request.
	Part(part timing.Part)
	// End ends the span with the status code of the answer.
	End(code int)
}

// monitoring is the group whose members may name the parents of spans, beside system:masters, as in kube-apiserver.
const monitoring = "system:monitoring"

// Trace makes spans of requests after they were authenticated, and of their parts. It returns nil if there is no
// tracer.
func Trace(tracer Tracer) Filter {
	if tracer == nil {
		return nil
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			record := timing.From(r.Context())
			r, span := tracer.Start(r, record.Began(), auditIDOf(w), mayNameParent(auth.UserFrom(r.Context())))
			if span == nil {
				next.ServeHTTP(w, r)
				return
			}
			now := time.Now()
			span.Part(timing.Part{
				Stage: timing.Authentication, Began: now.Add(-record.Spent(timing.Authentication)), Ended: now,
			})
			record.Observe(span.Part)
			counted := &counting{ResponseWriter: w}
			returned := false
			defer func() {
				if counted.code == 0 {
					counted.code = http.StatusOK
					if !returned {
						counted.code = http.StatusInternalServerError // Recover will answer a panic
					}
				}
				span.End(counted.code)
			}()
			next.ServeHTTP(counted, r)
			returned = true
		})
	}
}

func mayNameParent(user *auth.User) bool {
	return user != nil && (slices.Contains(user.Groups, auth.Masters) || slices.Contains(user.Groups, monitoring))
}
