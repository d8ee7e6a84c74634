package leader

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"apigen.dev/runtime/reach"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// errHeld says that another candidate holds the lease.
var errHeld = errors.New("another candidate holds the lease")

// manager is the field manager of candidates.
const manager = "leader-election"

// candidate takes part in an election. One goroutine at a time uses it.
type candidate struct {
	Lease
	leases reach.Objects[*coordinationv1.Lease]
	log    *slog.Logger

	// seen is the lease as the candidate saw it last, and since is when it saw it first.
	seen  record
	since time.Time
	// renewed is when the candidate began the last successful attempt to take or renew the lease.
	renewed time.Time
}

// record is what changes in a Lease when its holder renews it.
type record struct {
	holder            string
	seconds, switches int32
	acquired, renewed int64 // in microseconds, as on the wire
}

func recordOf(spec *coordinationv1.LeaseSpec) record {
	r := record{}
	if spec.HolderIdentity != nil {
		r.holder = *spec.HolderIdentity
	}
	if spec.LeaseDurationSeconds != nil {
		r.seconds = *spec.LeaseDurationSeconds
	}
	if spec.LeaseTransitions != nil {
		r.switches = *spec.LeaseTransitions
	}
	if spec.AcquireTime != nil {
		r.acquired = spec.AcquireTime.UnixMicro()
	}
	if spec.RenewTime != nil {
		r.renewed = spec.RenewTime.UnixMicro()
	}
	return r
}

// attempt takes or renews the lease. It fails with errHeld if another candidate holds it. It leaves time for another
// attempt before the deadline, in case that storage answers nothing.
func (c *candidate) attempt(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, c.RenewDeadline/2)
	defer cancel()
	began := time.Now()
	found := c.seen
	_, err := c.leases.Update(ctx, c.Namespace, c.Name, reach.Write{Manager: manager},
		func(lease *coordinationv1.Lease) error {
			found = recordOf(&lease.Spec)
			return c.claim(lease)
		})
	// Update may begin with a state that is older than one that was seen before. Only the last one counts.
	if found != c.seen {
		c.seen, c.since = found, time.Now()
	}
	if apierrors.IsNotFound(err) {
		lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.Namespace, Name: c.Name}}
		if err = c.claim(lease); err == nil {
			*lease.Spec.LeaseTransitions = 0
			_, err = c.leases.Create(ctx, lease, reach.Write{Manager: manager})
		}
	}
	if err == nil {
		c.renewed = began
	}
	return err
}

// claim makes a lease the candidate's, unless another candidate holds it.
func (c *candidate) claim(lease *coordinationv1.Lease) error {
	now := metav1.NewMicroTime(c.Now())
	spec := &lease.Spec
	found := recordOf(spec)
	held := found != c.seen || time.Since(c.since) < time.Duration(found.seconds)*time.Second
	switch {
	case found.holder == c.Identity:
	case found.holder != "" && held:
		return errHeld
	default:
		spec.AcquireTime = &now
		spec.LeaseTransitions = new(found.switches + 1)
	}
	spec.HolderIdentity = &c.Identity
	spec.LeaseDurationSeconds = new(int32((c.Duration + time.Second - 1) / time.Second))
	spec.RenewTime = &now
	return nil
}

// release gives the lease to the next candidate that looks, if this candidate holds it.
func (c *candidate) release(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, c.RenewDeadline)
	defer cancel()
	_, err := c.leases.Update(ctx, c.Namespace, c.Name, reach.Write{Manager: manager},
		func(lease *coordinationv1.Lease) error {
			if recordOf(&lease.Spec).holder != c.Identity {
				return errHeld
			}
			now := metav1.NewMicroTime(c.Now())
			lease.Spec.HolderIdentity, lease.Spec.LeaseDurationSeconds = new(""), new(int32(1))
			lease.Spec.AcquireTime, lease.Spec.RenewTime = &now, &now
			return nil
		})
	switch {
	case err == nil:
		c.log.Info("released the lease")
	case !errors.Is(err, errHeld):
		c.log.Warn("the lease could not be released, and others wait until it ends", "error", err)
	}
}
