package filter

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/endpoint"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// Deadline gives every request that is not long-running a deadline: limit, or less where the query's timeout asks for less.
// The deadline holds for reading the body, too, so that a client that sends it drop by drop ends.
func Deadline(limit time.Duration) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if isLongRunning(r) {
				next.ServeHTTP(w, r)
				return
			}
			timeout, err := requestTimeout(r, limit)
			if err != nil {
				endpoint.WriteStatus(w, r, apierrors.NewBadRequest(err.Error()))
				return
			}
			ctx := &bounded{parent: r.Context(), deadline: time.Now().Add(timeout)}
			defer ctx.end()
			if r.Body != nil && r.Body != http.NoBody && r.ContentLength != 0 {
				// Writers that can't do this (in-process tests) have no slow clients either.
				_ = http.NewResponseController(w).SetReadDeadline(ctx.deadline)
			}
			next.ServeHTTP(w, r.WithContext(ctx))
		})
	}
}

// isLongRunning tells requests that live as long as their client wants.
func isLongRunning(r *http.Request) bool {
	info := endpoint.RequestInfoFrom(r.Context())
	return info != nil && info.IsResource && (info.Verb == "watch" || info.LongRunning)
}

func requestTimeout(r *http.Request, limit time.Duration) (time.Duration, error) {
	if query := r.URL.RawQuery; !strings.Contains(query, "timeout") && !strings.Contains(query, "%") {
		return limit, nil // as nearly always; a name may be escaped
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

// bounded is a context with a deadline that has no timer until somebody waits for its end: most reads never wait.
type bounded struct {
	parent   context.Context
	deadline time.Time
	timed    atomic.Pointer[timed]
}

// timed is what context.WithDeadline made.
type timed struct {
	context.Context
	cancel context.CancelFunc
}

// ended is the one for requests that were over before anybody waited.
var ended = func() *timed {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return &timed{ctx, cancel}
}()

// Deadline implements context.Context.
func (b *bounded) Deadline() (time.Time, bool) {
	if earlier, ok := b.parent.Deadline(); ok && earlier.Before(b.deadline) {
		return earlier, true
	}
	return b.deadline, true
}

// Done implements context.Context.
func (b *bounded) Done() <-chan struct{} {
	if t := b.timed.Load(); t != nil {
		return t.Done()
	}
	ctx, cancel := context.WithDeadline(b.parent, b.deadline)
	if !b.timed.CompareAndSwap(nil, &timed{ctx, cancel}) {
		cancel()
	}
	return b.timed.Load().Done()
}

// Err implements context.Context. What it tells, Done tells too.
func (b *bounded) Err() error {
	if t := b.timed.Load(); t != nil {
		return t.Err()
	}
	if b.parent.Err() == nil && time.Now().Before(b.deadline) {
		return nil
	}
	<-b.Done()
	return b.timed.Load().Err()
}

// Value implements context.Context. Once somebody waits, it answers package context's own question, too, which makes
// children of the context end with it without a goroutine for each.
func (b *bounded) Value(key any) any {
	if t := b.timed.Load(); t != nil && t != ended {
		return t.Value(key)
	}
	return b.parent.Value(key)
}

// end is for the end of the request: who still holds the context sees that it is over.
func (b *bounded) end() {
	if !b.timed.CompareAndSwap(nil, ended) {
		b.timed.Load().cancel()
	}
}
