package etcd

import (
	"context"
	"slices"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
)

const (
	// leaseKeys is the number of keys that may share a lease: when it expires, etcd removes them all in one step.
	leaseKeys = 1000
	// A lease outlives the first key's TTL by a leaseShare-th of it, at least a second and at most leaseSpan. Keys
	// whose TTL ends in that time share the lease, so no key lives longer than that beyond its TTL.
	leaseShare = 20
	leaseSpan  = time.Minute
)

// leases returns leases that keys of similar TTL share: a lease costs etcd more than a key.
type leases struct {
	client *clientv3.Client
	turn   chan struct{} // one token: the goroutine that has it owns the following fields
	live   []*lease
}

type lease struct {
	id      clientv3.LeaseID
	expires time.Time // the earliest time at which it expires
	keys    int
}

func newLeases(client *clientv3.Client) *leases {
	l := &leases{client: client, turn: make(chan struct{}, 1)}
	l.turn <- struct{}{}
	return l
}

// get returns a lease that ends when ttl has passed, or a little later.
func (l *leases) get(ctx context.Context, ttl time.Duration) (clientv3.LeaseID, error) {
	select {
	case <-l.turn:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	defer func() { l.turn <- struct{}{} }()
	now := time.Now()
	l.live = slices.DeleteFunc(l.live, func(x *lease) bool { return x.keys >= leaseKeys || x.expires.Before(now) })
	span := min(max(ttl/leaseShare, time.Second), leaseSpan)
	for _, x := range l.live {
		if over := x.expires.Sub(now) - ttl; over >= 0 && over <= span {
			x.keys++
			return x.id, nil
		}
	}
	granted, err := l.client.Grant(ctx, seconds(ttl+span))
	if err != nil {
		return 0, err
	}
	// etcd began to count after now, so the lease doesn't end before this time.
	l.live = append(l.live, &lease{id: granted.ID, expires: now.Add(time.Duration(granted.TTL) * time.Second), keys: 1})
	return granted.ID, nil
}

func (l *leases) drop(id clientv3.LeaseID) {
	<-l.turn
	l.live = slices.DeleteFunc(l.live, func(x *lease) bool { return x.id == id })
	l.turn <- struct{}{}
}

func seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
