// Package leader runs work in one replica of many: the replica that holds a Lease of coordination.k8s.io/v1, which the
// server itself serves. Only wraps the Run of a server.Hook:
//
//	server.Hook{Name: "reports", Run: leader.Only(leader.Lease{Namespace: "kube-system", Name: "reports"}, reports)}
//
// The Lease has the form of client-go's leader election, so that replicas with either of them take part in one
// election. The package knows package reach, and nothing else of ours.
package leader

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	mathrand "math/rand/v2"
	"os"
	"time"

	"apigen.dev/runtime/reach"
	coordinationv1 "k8s.io/api/coordination/v1"
)

// Lease names the Lease of an election, and says how candidates behave. The zero values of its durations are those of
// kube-controller-manager.
type Lease struct {
	// Namespace and Name are those of the Lease object, which the first leader creates.
	Namespace, Name string
	// Identity names the candidate among the others. If it is empty, it is the name of the host and a random text.
	Identity string
	// Duration is how long others wait after they saw the leader renew the Lease, until one of them takes it (15 s). It
	// is rounded up to seconds.
	Duration time.Duration
	// RenewDeadline is how long a leader leads after it renewed the Lease for the last time (10 s). It is shorter than
	// Duration.
	RenewDeadline time.Duration
	// RetryPeriod is how often a leader renews the Lease, and how long others wait at least until they look at it again
	// (2 s).
	RetryPeriod time.Duration
	// Now is the clock for the times in the Lease; nil is time.Now. The election doesn't depend on it, and so not on
	// the clocks of other machines: a candidate measures how long ago it saw a Lease change.
	Now func() time.Time
	// Log receives who leads; nil is slog.Default().
	Log *slog.Logger
}

// ErrLost is the cause of the end of a leader's context, if the leader couldn't renew its Lease in time or another
// candidate has it.
var ErrLost = errors.New("leadership was lost")

// Only returns a function that waits until it holds the lease, runs run, and releases the lease when run has returned.
// Its context reaches the objects of the server, as that of a hook does.
//
// The context of run ends with the function's own, or when leadership is lost. It ends before another candidate takes
// the lease, if the clocks of both run equally fast. After leadership was lost and run has returned, the function waits
// for the lease again. At a shutdown it renews the lease until run has returned. It returns what run returns while it
// leads, and nil after a shutdown before it led.
func Only(lease Lease, run func(ctx context.Context) error) func(ctx context.Context) error {
	return func(ctx context.Context) error {
		c, err := newCandidate(ctx, lease)
		if err != nil {
			return fmt.Errorf("lease %s/%s: %w", lease.Namespace, lease.Name, err)
		}
		for c.campaign(ctx) {
			if err := c.lead(ctx, run); !errors.Is(err, ErrLost) {
				return err
			}
		}
		return nil
	}
}

// jitter is by how much a candidate's wait may be longer than the retry period, in parts of it; client-go has the same.
const jitter = 1.2

// newCandidate fails if the lease is described badly, or the server doesn't serve Leases.
func newCandidate(ctx context.Context, lease Lease) (*candidate, error) {
	lease.Duration = cmp.Or(lease.Duration, 15*time.Second)
	lease.RenewDeadline = cmp.Or(lease.RenewDeadline, 10*time.Second)
	lease.RetryPeriod = cmp.Or(lease.RetryPeriod, 2*time.Second)
	switch {
	case lease.Namespace == "" || lease.Name == "":
		return nil, errors.New("it has no namespace, or no name")
	case lease.RetryPeriod < 0 || float64(lease.RenewDeadline) <= jitter*float64(lease.RetryPeriod):
		return nil, fmt.Errorf("RenewDeadline, %s, must be more than %v times RetryPeriod, %s",
			lease.RenewDeadline, jitter, lease.RetryPeriod)
	case lease.Duration <= lease.RenewDeadline:
		return nil, fmt.Errorf("Duration, %s, must be more than RenewDeadline, %s",
			lease.Duration, lease.RenewDeadline)
	case lease.Duration > math.MaxInt32*time.Second:
		return nil, fmt.Errorf("Duration, %s, is too long", lease.Duration)
	}
	if lease.Identity == "" {
		host, err := os.Hostname()
		if err != nil {
			return nil, fmt.Errorf("a candidate without an Identity has the name of its host: %w", err)
		}
		lease.Identity = host + "_" + rand.Text()
	}
	if lease.Now == nil {
		lease.Now = time.Now
	}
	leases, err := reach.Of[*coordinationv1.Lease](ctx)
	log := cmp.Or(lease.Log, slog.Default()).With("lease", lease.Namespace+"/"+lease.Name, "identity", lease.Identity)
	return &candidate{Lease: lease, leases: leases, log: log}, err
}

// campaign waits until the candidate holds the lease. It returns false if ctx ends before.
func (c *candidate) campaign(ctx context.Context) bool {
	for ctx.Err() == nil {
		if err := c.attempt(ctx); err == nil {
			c.log.Info("became the leader")
			return true
		} else if !errors.Is(err, errHeld) && ctx.Err() == nil {
			c.log.Warn("a lease could not be taken", "error", err)
		}
		wait(ctx, time.Duration((1+jitter*mathrand.Float64())*float64(c.RetryPeriod)))
	}
	return false
}

// lead runs run while the candidate holds the lease. It returns ErrLost if it doesn't any more.
func (c *candidate) lead(ctx context.Context, run func(ctx context.Context) error) error {
	leading, lose := context.WithCancelCause(ctx)
	holding, stop := context.WithCancel(context.WithoutCancel(ctx))
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		c.hold(holding, func() { lose(ErrLost) })
	}()
	defer func() { // also after a panic
		stop()
		<-stopped
		c.release(context.WithoutCancel(ctx))
	}()
	err := run(leading)
	if context.Cause(leading) == ErrLost { //nolint:errorlint // the cause is this very error
		c.log.Warn("lost leadership", "error", err)
		return ErrLost
	}
	return err
}

// hold renews the lease until ctx ends, or until leadership is lost.
func (c *candidate) hold(ctx context.Context, lost func()) {
	expires := time.AfterFunc(time.Until(c.renewed.Add(c.RenewDeadline)), lost)
	defer expires.Stop()
	for wait(ctx, c.RetryPeriod) {
		err := c.attempt(ctx)
		switch {
		case errors.Is(err, errHeld):
			lost()
			return
		case err == nil && !expires.Reset(time.Until(c.renewed.Add(c.RenewDeadline))):
			return // it was too late
		case err != nil && ctx.Err() == nil:
			c.log.Warn("the lease could not be renewed", "error", err)
		}
		if time.Until(c.renewed.Add(c.RenewDeadline)) <= 0 {
			return
		}
	}
}

// wait waits for a time. It returns false if ctx ends before.
func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
