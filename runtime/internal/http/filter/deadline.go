package filter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Deadline gives every request that is not long-running a deadline: limit, or less if the option timeout of the query
// asks for less. The deadline also applies to reading the body, so that a client can't send it arbitrarily slowly.
func Deadline(limit time.Duration) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isLongRunning(r) {
				next.ServeHTTP(w, r)
				return
			}
			timeout, err := requestTimeout(r, limit)
			if err != nil {
				respond.Error(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			ctx, begun := r.Context().(*lazyDeadline)
			if !begun || !ctx.deadline.IsZero() || ctx.timer.Load() != nil {
				ctx = &lazyDeadline{parent: r.Context()}
				r = r.WithContext(ctx)
			}
			ctx.deadline = time.Now().Add(timeout)
			defer ctx.end()
			if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
				// A writer without read deadlines (in tests inside the process) has no slow clients either.
				_ = http.NewResponseController(w).SetReadDeadline(ctx.deadline)
			}
			next.ServeHTTP(w, r)
			_, answer := countingOf(w)
			if answer.code == http.StatusGatewayTimeout && !time.Now().Before(ctx.deadline) {
				answer.terminated = true
			}
		})
	}
}

func isLongRunning(r *http.Request) bool {
	info := request.InfoFrom(r.Context())
	return info != nil && info.LongRunning
}

func requestTimeout(r *http.Request, limit time.Duration) (time.Duration, error) {
	if query := r.URL.RawQuery; !strings.Contains(query, "timeout") && !strings.Contains(query, "%") {
		return limit, nil // the usual case; the name of the option may be escaped
	}
	text := r.URL.Query().Get("timeout")
	if text == "" {
		return limit, nil
	}
	timeout, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("invalid timeout specified in the request URL - %w", err)
	}
	if timeout <= 0 || timeout > limit {
		return limit, nil
	}
	return timeout, nil
}

// lazyDeadline is a context that starts its timer when somebody waits for its end, which most reads never do.
// RequestInfo makes it, without a deadline and a user: the copy of the request that carries it is the largest thing
// that the filters allocate, and one suffices.
type lazyDeadline struct {
	parent context.Context // withUser adds the user to it
	// deadline is zero until Deadline sets it, before the request has further goroutines.
	deadline time.Time
	timer    atomic.Pointer[timerContext]
}

type timerContext struct {
	context.Context
	cancel context.CancelFunc
}

// ended is the timerContext of requests that ended before anybody waited.
var ended = func() *timerContext {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &timerContext{ctx, cancel}
}()

func (d *lazyDeadline) Deadline() (time.Time, bool) {
	if earlier, ok := d.parent.Deadline(); d.deadline.IsZero() || ok && earlier.Before(d.deadline) {
		return earlier, ok
	}
	return d.deadline, true
}

func (d *lazyDeadline) Done() <-chan struct{} {
	if t := d.timer.Load(); t != nil {
		return t.Done()
	}
	if d.deadline.IsZero() {
		return d.parent.Done()
	}
	ctx, cancel := context.WithDeadline(d.parent, d.deadline)
	if !d.timer.CompareAndSwap(nil, &timerContext{ctx, cancel}) {
		cancel()
	}
	return d.timer.Load().Done()
}

// Err implements context.Context. When it returns an error, the channel of Done is closed.
func (d *lazyDeadline) Err() error {
	if t := d.timer.Load(); t != nil {
		return t.Err()
	}
	if d.deadline.IsZero() {
		return d.parent.Err()
	}
	if d.parent.Err() == nil && time.Now().Before(d.deadline) {
		return nil
	}
	<-d.Done()
	return d.timer.Load().Err()
}

// Value implements context.Context. When somebody waits, it also has the key that package context uses itself, so that
// children of the context end with it without a goroutine for each.
func (d *lazyDeadline) Value(key any) any {
	if t := d.timer.Load(); t != nil && t != ended {
		return t.Value(key)
	}
	return d.parent.Value(key)
}

// withUser returns the request with its user: the request itself if its context is a lazyDeadline that nobody but the
// filters can have seen, and a copy otherwise.
func withUser(r *http.Request, user *auth.User) *http.Request {
	ctx, lazy := r.Context().(*lazyDeadline)
	// Who may use the context later, such as a client of an authenticator's webhook, waits for its end first.
	if !lazy || ctx.deadline.IsZero() || ctx.timer.Load() != nil {
		return r.WithContext(auth.WithUser(r.Context(), user))
	}
	ctx.parent = auth.WithUser(ctx.parent, user)
	return r
}

func (d *lazyDeadline) end() {
	if !d.timer.CompareAndSwap(nil, ended) {
		d.timer.Load().cancel()
	}
}
