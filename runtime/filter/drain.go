package filter

import (
	"context"
	"net/http"
	"sync"

	"apigen.dev/runtime/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Drain counts the requests in progress, so that a server can shut down without interrupting them. After Start it
// answers 503 with Retry-After to new requests and ends watches, and Wait returns when the other requests are done.
type Drain struct {
	mu       sync.Mutex // guards draining together with Add on requests
	draining bool
	requests sync.WaitGroup
	// ended is canceled by Start. It is a context so that watches can end with it.
	ended context.Context
	end   context.CancelFunc
}

// NewDrain returns a Drain that serves all requests.
func NewDrain() *Drain {
	d := new(Drain)
	d.ended, d.end = context.WithCancel(context.Background())
	return d
}

// Start refuses requests from now on, and ends watches.
func (d *Drain) Start() {
	d.mu.Lock()
	d.draining = true
	d.mu.Unlock()
	d.end()
}

// Wait waits until no request is in progress, or ctx ends.
func (d *Drain) Wait(ctx context.Context) error {
	done := make(chan struct{})
	go func() { d.requests.Wait(); close(done) }()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Filter returns the filter. It serves the paths for which public returns true (health checks) at any time.
func (d *Drain) Filter(public func(path string) bool) Filter {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		if public(r.URL.Path) {
			next.ServeHTTP(w, r)
			return
		}
		if !d.enter() {
			w.Header().Set("Connection", "close")
			err := apierrors.NewServiceUnavailable("the server is shutting down")
			err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
			respond.Error(w, r, err)
			return
		}
		defer d.requests.Done()
		if isLongRunning(r) {
			ctx, cancel := context.WithCancel(r.Context())
			defer cancel()
			stop := context.AfterFunc(d.ended, cancel)
			defer stop()
			r = r.WithContext(ctx)
		}
		next.ServeHTTP(w, r)
	}
}

func (d *Drain) enter() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.draining {
		return false
	}
	d.requests.Add(1)
	return true
}
