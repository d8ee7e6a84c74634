package quota

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/reach"
	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// ledger charges writes to quotas, and gives back what writes free. All entries of a namespace that wait are booked
// together, so that many writers make few updates of a quota. Replicas meet in the compare-and-swap of its status.
type ledger struct {
	// ctx reaches the objects of the server as the server itself.
	ctx context.Context

	mu      sync.Mutex
	waiting map[string][]*entry // by namespace
	working map[string]bool
}

// entry is a charge or a credit.
type entry struct {
	// demand is what a write asks for; nil for a credit.
	demand *demand
	// credit returns what a quota gets back.
	credit func(quota *core.ResourceQuota) core.ResourceList
	// booked are the charges so far, by the names of quotas.
	booked map[string]core.ResourceList
	// settled are the quotas that a credit was given to.
	settled map[string]bool
	err     error
	closed  bool
	done    chan struct{}
}

// charge books a demand. Where it fails, nothing stays booked. The entry tells what was charged.
func (l *ledger) charge(ctx context.Context, namespace string, d *demand) (*entry, error) {
	e := &entry{demand: d, booked: map[string]core.ResourceList{}, done: make(chan struct{})}
	l.enter(namespace, e)
	select {
	case <-e.done:
		return e, e.err
	case <-ctx.Done():
		// The worker may still book it: whatever it books is given back.
		go func() {
			<-e.done
			l.refund(namespace, e)
		}()
		return nil, ctx.Err()
	}
}

// refund gives back what an entry has booked.
func (l *ledger) refund(namespace string, e *entry) {
	if len(e.booked) == 0 {
		return
	}
	booked := e.booked
	l.give(namespace, func(quota *core.ResourceQuota) core.ResourceList { return booked[quota.Name] })
}

// give gives quotas back what credit returns. It doesn't wait until that is booked.
func (l *ledger) give(namespace string, credit func(*core.ResourceQuota) core.ResourceList) {
	l.enter(namespace, &entry{credit: credit, settled: map[string]bool{}, done: make(chan struct{})})
}

func (l *ledger) enter(namespace string, e *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting[namespace] = append(l.waiting[namespace], e)
	if !l.working[namespace] {
		l.working[namespace] = true
		go l.work(namespace)
	}
}

// work books the entries of a namespace until none waits.
func (l *ledger) work(namespace string) {
	for {
		l.mu.Lock()
		batch := l.waiting[namespace]
		delete(l.waiting, namespace)
		if len(batch) == 0 {
			delete(l.working, namespace)
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		l.book(namespace, batch)
		for _, e := range batch {
			close(e.done)
		}
	}
}

// maxRounds bounds how often a batch begins again because another replica changed a quota.
const maxRounds = 50

// errChanged ends the update of a quota that is no longer the one that was read.
var errChanged = errors.New("another server changed the quota")

// book books a batch: it reads the quotas, adds up what the entries change, and swaps their statuses. Entries whose
// quotas have changed meanwhile get another round.
func (l *ledger) book(namespace string, batch []*entry) {
	quotas, err := reach.Of[*core.ResourceQuota](l.ctx)
	for range maxRounds {
		var present []*core.ResourceQuota
		if err == nil {
			present, err = quotas.List(l.ctx, namespace, nil)
		}
		if err != nil {
			break
		}
		if l.round(namespace, quotas, present, batch, &err); !slices.ContainsFunc(batch, (*entry).open) {
			return
		}
	}
	if err == nil {
		err = apierrors.NewConflict(core.Resource("resourcequotas"), namespace, errChanged)
	}
	for _, e := range batch {
		if e.open() {
			e.err, e.closed = err, true
			l.refundFailed(namespace, e)
		}
	}
}

func (e *entry) open() bool { return !e.closed }

// refundFailed gives back what an entry has booked that failed in the end.
func (l *ledger) refundFailed(namespace string, e *entry) {
	if e.demand != nil {
		l.refund(namespace, e)
		e.booked = nil
	}
}

// round books what it can of the open entries.
func (l *ledger) round(
	namespace string, quotas reach.Objects[*core.ResourceQuota], present []*core.ResourceQuota, batch []*entry,
	failure *error,
) {
	working := make([]*core.ResourceQuota, len(present))
	for i, quota := range present {
		working[i] = quota.DeepCopy()
	}
	planned := map[*entry]map[string]core.ResourceList{}
	for _, e := range batch {
		if e.closed {
			continue
		}
		charges, err := e.plan(working)
		if err != nil {
			e.err, e.closed = err, true
			l.refundFailed(namespace, e)
			continue
		}
		planned[e] = charges
	}
	swapped := map[string]bool{}
	for i, quota := range working {
		if equal(quota.Status.Used, present[i].Status.Used) {
			swapped[quota.Name] = true
			continue
		}
		err := swap(l.ctx, quotas, quota)
		swapped[quota.Name] = err == nil
		if err != nil && !errors.Is(err, errChanged) && !apierrors.IsNotFound(err) {
			*failure = err
		}
	}
	for e, charges := range planned {
		e.close(charges, swapped)
	}
}

// plan adds an entry to the usage of working, and returns what it adds to each quota. After an error, it has added
// nothing.
func (e *entry) plan(working []*core.ResourceQuota) (map[string]core.ResourceList, error) {
	if e.demand == nil {
		given := map[string]core.ResourceList{}
		for _, quota := range working {
			if e.settled[quota.Name] {
				continue
			}
			given[quota.Name] = mask(e.credit(quota), quota.Status.Hard)
			quota.Status.Used = clone(quota.Status.Used)
			subtract(quota.Status.Used, given[quota.Name])
		}
		return given, nil
	}
	// A quota on which an earlier round has booked the entry has made room for it.
	var fresh []*core.ResourceQuota
	for _, quota := range working {
		if _, booked := e.booked[quota.Name]; !booked {
			fresh = append(fresh, quota)
		}
	}
	charges, err := e.demand.charges(fresh)
	if err != nil {
		return nil, err
	}
	for _, quota := range fresh {
		if charge := charges[quota.Name]; len(charge) > 0 {
			quota.Status.Used = clone(quota.Status.Used)
			add(quota.Status.Used, charge)
		}
	}
	return charges, nil
}

// close records what was swapped, and closes an entry that has nothing left to book.
func (e *entry) close(charges map[string]core.ResourceList, swapped map[string]bool) {
	e.closed = true
	for name, charge := range charges {
		switch {
		case len(charge) == 0:
		case !swapped[name]:
			e.closed = false
		case e.demand != nil:
			e.booked[name] = charge
		default:
			e.settled[name] = true
		}
	}
}

// swap writes the usage of a quota, unless it has changed since it was read.
func swap(ctx context.Context, quotas reach.Objects[*core.ResourceQuota], quota *core.ResourceQuota) error {
	how := reach.Write{Subresource: "status", Manager: manager}
	_, err := quotas.Update(ctx, quota.Namespace, quota.Name, how, func(obj *core.ResourceQuota) error {
		if obj.ResourceVersion != quota.ResourceVersion {
			return errChanged
		}
		obj.Status.Hard, obj.Status.Used = quota.Status.Hard, maps.Clone(quota.Status.Used)
		return nil
	})
	return err
}

// manager is the field manager of the quotas' status.
const manager = "resourcequota"

// settled returns the function that gives back what a write turned out not to use.
func (l *ledger) settled(namespace string, e *entry) func(context.Context, admission.Outcome) {
	return func(_ context.Context, outcome admission.Outcome) {
		if outcome == admission.Rejected {
			l.refund(namespace, e)
		}
	}
}
