package filter

import (
	"context"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Ending says how a Drain ends requests.
type Ending struct {
	// Spread is the time over which watches and other long-running requests end, each at a moment of its own, so that
	// their clients don't all come to the next server at once. 0 ends them at once.
	Spread time.Duration
	// TooMany refuses new requests with 429 and Retry-After: 5, as kube-apiserver's --shutdown-send-retry-after does,
	// instead of 503 and Retry-After: 1.
	TooMany bool
}

// Drain counts the requests in progress, so that a server can shut down without interrupting them. After Start it
// refuses new requests with Retry-After and ends watches, and Wait returns when the other requests are done.
type Drain struct {
	ending  Ending
	leaving atomic.Bool

	mu       sync.Mutex // guards draining together with Add on requests
	draining bool
	requests sync.WaitGroup
	// ended is canceled by Start. It is a context so that watches can end with it.
	ended context.Context
	end   context.CancelFunc
}

// NewDrain returns a Drain that serves all requests.
func NewDrain(ending Ending) *Drain {
	d := &Drain{ending: ending}
	d.ended, d.end = context.WithCancel(context.Background())
	return d
}

// Leave asks clients, with every answer from now on, to send further requests over another connection, which a balancer
// may lead to another server. Requests under way on the connection, such as watches, go on.
func (d *Drain) Leave() { d.leaving.Store(true) }

// Start refuses requests from now on, and ends watches.
func (d *Drain) Start() {
	d.Leave()
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
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if public(r.URL.Path) {
				next.ServeHTTP(w, r)
				return
			}
			if d.leaving.Load() && r.Header.Get("Upgrade") == "" {
				w.Header().Set("Connection", "close") // net/http sends GOAWAY on a connection of HTTP/2
			}
			if !d.enter() {
				respond.Error(w, r, d.refusal())
				return
			}
			defer d.requests.Done()
			if isLongRunning(r) {
				ctx, cancel := context.WithCancel(r.Context())
				defer cancel()
				defer d.endLater(cancel)()
				r = r.WithContext(ctx)
			}
			next.ServeHTTP(w, r)
		})
	}
}

// endLater calls cancel at a moment of the Spread that follows Start. The function that it returns releases what
// endLater holds, when the request has ended.
func (d *Drain) endLater(cancel context.CancelFunc) (release func()) {
	var timer atomic.Pointer[time.Timer]
	stop := context.AfterFunc(d.ended, func() {
		if d.ending.Spread <= 0 {
			cancel()
			return
		}
		timer.Store(time.AfterFunc(rand.N(d.ending.Spread), cancel))
	})
	return func() {
		stop()
		if t := timer.Load(); t != nil {
			t.Stop()
		}
	}
}

func (d *Drain) refusal() error {
	if d.ending.TooMany {
		return apierrors.NewTooManyRequests("The apiserver is shutting down, please try again later.", 5)
	}
	err := apierrors.NewServiceUnavailable("the server is shutting down")
	err.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: 1}
	return err
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
