package conformance

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"apigen.dev/runtime/leader"
	"apigen.dev/runtime/reach"
	workloads "example.com/workloads/apis"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// times are those of an election: how long a lease lasts, when its holder gives up renewing it, how often it tries.
// On a machine that stands still for the difference between the first two, two may lead.
type times struct{ lease, deadline, retry time.Duration }

// short and long are the times of elections in which a lease runs out, and in which each leader releases it.
var (
	short = times{5 * time.Second, time.Second, 100 * time.Millisecond}
	long  = times{time.Minute, 30 * time.Second, 100 * time.Millisecond}
)

// elect takes part in one election until it has led, and led has returned.
type elect func(ctx context.Context, t *testing.T, identity string, led func(ctx context.Context))

// ours is package leader, with a clock that is wrong by an hour.
func (o times) ours(ctx context.Context, t *testing.T, identity string, led func(ctx context.Context)) {
	err := leader.Only(leader.Lease{
		Namespace: "kube-system", Name: "race", Identity: identity, Log: slog.New(slog.DiscardHandler),
		Duration: o.lease, RenewDeadline: o.deadline, RetryPeriod: o.retry,
		Now: func() time.Time { return time.Now().Add(time.Hour) },
	}, func(ctx context.Context) error { led(ctx); return nil })(ctx)
	if err != nil {
		t.Error(err)
	}
}

// clientGo returns client-go's leader election over a configuration.
func (o times) clientGo(config *rest.Config) elect {
	return func(ctx context.Context, t *testing.T, identity string, led func(ctx context.Context)) {
		clients, err := kubernetes.NewForConfig(config)
		if err != nil {
			t.Error(err)
			return
		}
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
			Lock: &resourcelock.LeaseLock{
				LeaseMeta:  metav1.ObjectMeta{Namespace: "kube-system", Name: "race"},
				Client:     clients.CoordinationV1(),
				LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
			},
			LeaseDuration: o.lease, RenewDeadline: o.deadline, RetryPeriod: o.retry,
			ReleaseOnCancel: true,
			Callbacks: leaderelection.LeaderCallbacks{
				OnStartedLeading: func(ctx context.Context) { defer stop(); led(ctx) },
				OnStoppedLeading: func() {},
			},
		})
		if err != nil {
			t.Error(err)
			return
		}
		elector.Run(ctx)
	}
}

// Candidates of package leader and of client-go race for one Lease: one of them leads at a time, all of them do, and
// each change of the leader is counted.
func TestElectionRace(t *testing.T) {
	ctx := inHook(t, workloads.Groups()...)
	leases, err := reach.Of[*coordinationv1.Lease](ctx)
	if err != nil {
		t.Fatal(err)
	}
	const terms = 3
	var leading, led, finished atomic.Int32
	candidates := map[string]elect{
		"ours-1": long.ours, "ours-2": long.ours,
		"client-go-1": long.clientGo(throughTransport(ctx)),
		"client-go-2": long.clientGo(throughKubeconfig(ctx, t)),
	}
	var working sync.WaitGroup
	for identity, take := range candidates {
		working.Go(func() {
			for term := 0; int(finished.Load()) < len(candidates); term++ {
				take(ctx, t, identity, func(context.Context) {
					led.Add(1)
					if n := leading.Add(1); n != 1 {
						t.Errorf("%s leads beside %d others", identity, n-1)
					}
					lease, err := leases.Get(ctx, "kube-system", "race")
					if err != nil || *lease.Spec.HolderIdentity != identity {
						t.Errorf("%s leads, and the lease is %v, %v", identity, lease, err)
					}
					leading.Add(-1)
				})
				if term+1 == terms {
					finished.Add(1)
				}
			}
		})
	}
	finish(t, &working, tellLease(ctx, leases))
	lease, err := leases.Get(ctx, "kube-system", "race")
	if err != nil || *lease.Spec.LeaseTransitions != led.Load()-1 || *lease.Spec.HolderIdentity != "" {
		t.Errorf("after %d terms: %v, %v", led.Load(), lease, err)
	}
}

// tellLease returns a function that says what the Lease is, for a candidate that never leads.
func tellLease(ctx context.Context, leases reach.Objects[*coordinationv1.Lease]) func() string {
	return func() string {
		ctx, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		lease, err := leases.Get(ctx, "kube-system", "race")
		return fmt.Sprintf("the candidates don't end; the lease is %v, %v", lease, err)
	}
}

// severed are Leases whose connection breaks when cut is closed.
type severed struct {
	reach.Objects[*coordinationv1.Lease]
	cut chan struct{}
}

func (s severed) Update(
	ctx context.Context, namespace, name string, how reach.Write, change func(*coordinationv1.Lease) error,
) (*coordinationv1.Lease, error) {
	select {
	case <-s.cut:
		return nil, errors.New("no route to host")
	default:
		return s.Objects.Update(ctx, namespace, name, how, change)
	}
}

// A leader of package leader that loses its connection stops before client-go's candidate leads.
func TestElectionTakeover(t *testing.T) {
	ctx := inHook(t, workloads.Groups()...)
	leases, err := reach.Of[*coordinationv1.Lease](ctx)
	if err != nil {
		t.Fatal(err)
	}
	cut := make(chan struct{})
	lost := make(chan context.Context, 1)
	var working sync.WaitGroup
	first, stopFirst := context.WithCancel(
		reach.WithObjects[*coordinationv1.Lease](ctx, severed{leases, cut}))
	working.Go(func() {
		short.ours(first, t, "ours", func(ctx context.Context) {
			lost <- ctx
			<-ctx.Done()
		})
	})
	term := <-lost
	working.Go(func() {
		defer stopFirst()
		short.clientGo(throughTransport(ctx))(ctx, t, "client-go", func(context.Context) {
			if !errors.Is(context.Cause(term), leader.ErrLost) {
				t.Errorf("client-go leads while the first does: %v", context.Cause(term))
			}
		})
	})
	close(cut)
	finish(t, &working, tellLease(ctx, leases))
}
