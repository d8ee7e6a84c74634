package leader_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/leader"
	"apigen.dev/runtime/reach"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// The tests run in bubbles of synctest: time passes at once when everybody waits.

// shared has one Lease, which its clients share.
type shared struct {
	mu     sync.Mutex // guards the fields below
	lease  *coordinationv1.Lease
	writes int
}

func (s *shared) written() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.writes
}

func (s *shared) spec() coordinationv1.LeaseSpec {
	s.mu.Lock()
	defer s.mu.Unlock()
	return *s.lease.Spec.DeepCopy()
}

// client reaches the shared Lease. Its connection may be cut.
type client struct {
	reach.Objects[*coordinationv1.Lease]
	*shared
	cut bool // guarded by mu of shared
	// stale, if set, is a state with which each update begins, as one that begins with a cache's entry.
	stale *coordinationv1.Lease
}

func (c *client) connect(connected bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = !connected
}

func (c *client) Update(
	ctx context.Context, _, _ string, _ reach.Write, change func(*coordinationv1.Lease) error,
) (*coordinationv1.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		c.mu.Unlock()
		<-ctx.Done()
		c.mu.Lock()
		return nil, ctx.Err()
	}
	if c.lease == nil {
		return nil, apierrors.NewNotFound(schema.GroupResource{}, "a")
	}
	if c.stale != nil {
		_ = change(c.stale.DeepCopy()) // a write over it would conflict
	}
	changed := c.lease.DeepCopy()
	if err := change(changed); err != nil {
		return nil, err
	}
	c.lease = changed
	c.writes++
	return changed, nil
}

func (c *client) Create(
	_ context.Context, lease *coordinationv1.Lease, _ reach.Write,
) (*coordinationv1.Lease, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.lease != nil {
		return nil, apierrors.NewAlreadyExists(schema.GroupResource{}, "a")
	}
	c.lease = lease.DeepCopy()
	c.writes++
	return lease, nil
}

// candidate is a replica that takes part in the election.
type candidate struct {
	*client
	stop context.CancelFunc
	// led gets the context of each term; ended gets what the candidate's function returned.
	led   chan context.Context
	ended chan error
}

// start starts a candidate, which runs run while it leads, or nothing until its term ends.
func (s *shared) start(t *testing.T, lease leader.Lease, run func(ctx context.Context) error) *candidate {
	t.Helper()
	return s.startFrom(t, &client{shared: s}, lease, run)
}

// startFrom is start with a client.
func (s *shared) startFrom(
	t *testing.T, from *client, lease leader.Lease, run func(ctx context.Context) error,
) *candidate {
	t.Helper()
	c := &candidate{client: from, led: make(chan context.Context, 10), ended: make(chan error, 1)}
	ctx, stop := context.WithCancel(reach.WithObjects(t.Context(), c.client))
	c.stop = stop
	lease.Namespace, lease.Name, lease.Log = "kube-system", "a", slog.New(slog.DiscardHandler)
	only := leader.Only(lease, func(ctx context.Context) error {
		c.led <- ctx
		if run != nil {
			return run(ctx)
		}
		<-ctx.Done()
		return ctx.Err()
	})
	go func() { c.ended <- only(ctx) }()
	return c
}

// end stops a candidate, and returns what its function returned.
func (c *candidate) end() error {
	c.stop()
	return <-c.ended
}

func pass(d time.Duration) { <-time.After(d) }

// One candidate leads at a time. The first creates the Lease and renews it; at its end it releases the Lease, and the
// second leads.
func TestOneLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		first := s.start(t, leader.Lease{Identity: "first"}, nil)
		<-first.led
		began := time.Now()
		second := s.start(t, leader.Lease{}, nil)
		pass(time.Minute)
		spec := s.spec()
		if len(second.led) > 0 || *spec.HolderIdentity != "first" || *spec.LeaseDurationSeconds != 15 ||
			*spec.LeaseTransitions != 0 || !spec.AcquireTime.Equal(&metav1.MicroTime{Time: began}) ||
			time.Since(spec.RenewTime.Time) > 2*time.Second {
			t.Errorf("after a minute, the second leads: %v, the lease is %v", len(second.led) > 0, spec)
		}
		if n := s.written(); n < 25 || n > 31 {
			t.Errorf("%d writes in a minute", n)
		}
		first.stop()
		if err := <-first.ended; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if spec := s.spec(); *spec.HolderIdentity != "" || *spec.LeaseDurationSeconds != 1 {
			t.Errorf("released: %v", spec)
		}
		ended := time.Now()
		<-second.led
		if waited := time.Since(ended); waited > 4400*time.Millisecond {
			t.Errorf("the second waited for %s", waited)
		}
		if spec := s.spec(); *spec.LeaseTransitions != 1 || *spec.HolderIdentity == "" {
			t.Errorf("taken: %v", spec)
		}
		if err := second.end(); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// A leader that can't reach storage stops before another leads, and leads again when the other has ended.
func TestLeaderIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		first := s.start(t, leader.Lease{Identity: "first"}, nil)
		term := <-first.led
		second := s.start(t, leader.Lease{Identity: "second"}, nil)
		pass(time.Minute)
		first.connect(false)
		cut := time.Now()
		<-term.Done()
		if !errors.Is(context.Cause(term), leader.ErrLost) || time.Since(cut) > 10*time.Second {
			t.Errorf("after %s the term ended because of %v", time.Since(cut), context.Cause(term))
		}
		if len(second.led) > 0 {
			t.Error("the second led before the first stopped")
		}
		<-second.led
		if waited := time.Since(cut); waited < 13*time.Second || waited > 24*time.Second {
			t.Errorf("the second leads after %s", waited)
		}
		if spec := s.spec(); *spec.HolderIdentity != "second" || *spec.LeaseTransitions != 1 {
			t.Errorf("the lease: %v", spec)
		}
		first.connect(true)
		pass(time.Minute)
		if len(first.led) > 0 {
			t.Error("two lead")
		}
		_ = second.end()
		<-first.led
		_ = first.end()
	})
}

// A short outage, shorter than the deadline, ends no term.
func TestOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		c := s.start(t, leader.Lease{RetryPeriod: time.Second}, nil)
		term := <-c.led
		for range 10 {
			c.connect(false)
			pass(500 * time.Millisecond)
			c.connect(true)
			pass(10 * time.Second)
		}
		if term.Err() != nil {
			t.Error(context.Cause(term))
		}
		_ = c.end()
	})
}

// The clocks of candidates may differ: they are written, and nobody compares them.
func TestClocksDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		ahead := func(d time.Duration) func() time.Time { return func() time.Time { return time.Now().Add(d) } }
		first := s.start(t, leader.Lease{Identity: "first", Now: ahead(-time.Hour)}, nil)
		term := <-first.led
		second := s.start(t, leader.Lease{Identity: "second", Now: ahead(time.Hour)}, nil)
		pass(time.Minute)
		if len(second.led) > 0 || term.Err() != nil {
			t.Error("a clock decides who leads")
		}
		_ = first.end()
		<-second.led
		spec := s.spec()
		if early := time.Until(spec.AcquireTime.Time); early < 59*time.Minute ||
			spec.AcquireTime.Before(spec.RenewTime) {
			t.Errorf("taken: %v", spec)
		}
		_ = second.end()
	})
}

// A leader whose lease another has taken stops as soon as it knows, and leaves the lease alone.
func TestLeaseIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		c := s.start(t, leader.Lease{}, nil)
		term := <-c.led
		s.mu.Lock()
		s.lease.Spec.HolderIdentity = new("thief")
		s.mu.Unlock()
		taken := time.Now()
		<-term.Done()
		if !errors.Is(context.Cause(term), leader.ErrLost) || time.Since(taken) > 2*time.Second {
			t.Errorf("after %s the term ended because of %v", time.Since(taken), context.Cause(term))
		}
		synctest.Wait()
		if spec := s.spec(); *spec.HolderIdentity != "thief" {
			t.Errorf("the lease: %v", spec)
		}
		<-c.led // the thief never renews
		_ = c.end()
	})
}

// A candidate takes a lease that nobody renews, although its reads begin with a state that is older.
func TestStaleReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := coordinationv1.LeaseSpec{HolderIdentity: new("dead"), LeaseDurationSeconds: new(int32(2))}
		older, newer := &coordinationv1.Lease{Spec: spec}, &coordinationv1.Lease{Spec: spec}
		newer.Spec.RenewTime = &metav1.MicroTime{Time: time.Now()}
		s := &shared{lease: newer}
		began := time.Now()
		c := s.startFrom(t, &client{shared: s, stale: older}, leader.Lease{}, nil)
		select {
		case <-c.led:
		case <-time.After(time.Hour):
			t.Fatal("nobody leads after an hour")
		}
		if waited := time.Since(began); waited < 2*time.Second || waited > 10*time.Second {
			t.Errorf("the candidate leads after %s", waited)
		}
		_ = c.end()
	})
}

// At a shutdown the leader keeps the lease until its work has ended, however long that takes.
func TestShutdownKeepsLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := new(shared)
		first := s.start(t, leader.Lease{Identity: "first"}, func(ctx context.Context) error {
			<-ctx.Done()
			pass(time.Minute)
			return nil
		})
		<-first.led
		second := s.start(t, leader.Lease{}, nil)
		first.stop()
		pass(50 * time.Second)
		if len(second.led) > 0 || *s.spec().HolderIdentity != "first" {
			t.Error("another leads while the first still works")
		}
		if err := <-first.ended; err != nil {
			t.Error(err)
		}
		<-second.led
		_ = second.end()
	})
}

// What the work returns while it leads is the result, and the lease is free then, even after a panic.
func TestWorkEnds(t *testing.T) {
	broken := errors.New("broken")
	for name, want := range map[string]any{"nil": nil, "error": broken, "panic": "broken"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := new(shared)
				ctx := reach.WithObjects(t.Context(), &client{shared: s})
				only := leader.Only(leader.Lease{
					Namespace: "x", Name: "a", Log: slog.New(slog.DiscardHandler),
				}, func(context.Context) error {
					if name == "panic" {
						panic(want)
					}
					err, _ := want.(error)
					return err
				})
				defer func() {
					if p := recover(); name == "panic" && p != want {
						t.Errorf("panic %v", p)
					}
					if *s.spec().HolderIdentity != "" {
						t.Error("the lease is held")
					}
				}()
				if err := only(ctx); err != want { //nolint:errorlint // it must not be wrapped
					t.Error(err)
				}
			})
		})
	}
}

// A candidate that never led ends at the shutdown.
func TestShutdownBeforeLeading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := (&shared{lease: &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{
			HolderIdentity: new("other"), LeaseDurationSeconds: new(int32(15)),
		}}}).start(t, leader.Lease{}, nil)
		synctest.Wait()
		if err := c.end(); err != nil || len(c.led) > 0 || c.written() > 0 {
			t.Errorf("%v, %d terms, %d writes", err, len(c.led), c.written())
		}
	})
}

func TestWrongLease(t *testing.T) {
	served := reach.WithObjects(t.Context(), &client{shared: new(shared)})
	for want, test := range map[string]struct {
		ctx   context.Context
		lease leader.Lease
	}{
		"lease /a: it has no namespace, or no name":                  {served, leader.Lease{Name: "a"}},
		"lease x/a: RenewDeadline, 2s, must be more than 1.2 times":  {served, lease(0, 2*time.Second, 0)},
		"lease x/a: RenewDeadline, 10s, must be more than 1.2 times": {served, lease(0, 0, -1)},
		"lease x/a: Duration, 10s, must be more than RenewDeadline, 10s": {served,
			lease(10*time.Second, 0, 0)},
		"lease x/a: Duration, 1000000h0m0s, is too long": {served, lease(1000000*time.Hour, 0, 0)},
		"lease x/a: no kind whose Go type is *v1.Lease":  {t.Context(), lease(0, 0, 0)},
	} {
		err := leader.Only(test.lease, func(context.Context) error { panic("it leads") })(test.ctx)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
}

func lease(duration, deadline, retry time.Duration) leader.Lease {
	return leader.Lease{Namespace: "x", Name: "a", Duration: duration, RenewDeadline: deadline, RetryPeriod: retry}
}
