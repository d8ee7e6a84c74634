package etcd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/v3rpc/rpctypes"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (b *backend) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	switch {
	case ttl == storage.KeepTTL && expect > 0: // an absent key has no TTL to keep, and etcd would reject the request
		return b.put(ctx, key, value, expect, clientv3.WithIgnoreLease())
	case ttl <= 0:
		return b.put(ctx, key, value, expect)
	}
	for attempt := 1; ; attempt++ {
		lease, err := b.leases.get(ctx, ttl)
		if err != nil {
			return 0, b.readError(ctx, "put "+key+": getting a lease", err)
		}
		revision, err := b.put(ctx, key, value, expect, clientv3.WithLease(lease))
		if attempt == 2 || !errors.Is(err, rpctypes.ErrLeaseNotFound) {
			return revision, err
		}
		// A shared lease was revoked, or expired early by the server's clock. Nothing was written, so the write is
		// tried once more.
		b.leases.drop(lease)
	}
}

func (b *backend) put(ctx context.Context, key string, value []byte, expect int64,
	options ...clientv3.OpOption) (int64, error) {
	put := clientv3.OpPut(key, "", options...)
	put.WithValueBytes(value)
	return b.write(ctx, "put", key, expect, put)
}

func (b *backend) Delete(ctx context.Context, key string, expect int64) (int64, error) {
	if err := b.usable(ctx); err != nil {
		return 0, err
	}
	if expect <= 0 {
		return 0, fmt.Errorf("delete %s: a deletion needs the revision that it expects, got %d", key, expect)
	}
	return b.write(ctx, "delete", key, expect, clientv3.OpDelete(key))
}

// write executes op if key is at revision expect, in one transaction that is sent at most once.
func (b *backend) write(ctx context.Context, verb, key string, expect int64, op clientv3.Op) (int64, error) {
	attempted, attempt := withAttempt(clientv3.WithRequireLeader(ctx))
	response, err := b.kv.Txn(attempted).
		If(clientv3.Compare(clientv3.ModRevision(key), "=", expect)).
		Then(op).
		Else(clientv3.OpGet(key)).
		Commit()
	if err != nil {
		// Without a connection, gRPC doesn't ask the attempt whether the request was sent.
		sent, cause := attempt.result(err)
		if op.IsPut() && errors.Is(storageError(cause), storage.ErrNoSpace) && !b.untouched(ctx, key, expect) {
			return 0, fmt.Errorf("%s %s: %w: %w", verb, key, storage.ErrUnknownOutcome, cause)
		}
		return 0, b.writeError(ctx, verb+" "+key, cause, sent || !b.remote)
	}
	if response.Succeeded {
		return response.Header.Revision, nil
	}
	conflict := &storage.ConflictError{Key: key, Expected: expect}
	if found := response.Responses[0].GetResponseRange().Kvs; len(found) > 0 {
		conflict.Current = keyValue(found[0])
	}
	return 0, conflict
}

// untouched reports whether a key is in the state that a write expected. etcd may report that it has no space also
// if it executes a write that was under way when the space ran out. A key that this write created, and that another
// client deleted before the check, is untouched, too.
func (b *backend) untouched(ctx context.Context, key string, expect int64) bool {
	kv, _, err := b.Get(ctx, key, storage.GetOptions{RevisionOnly: true})
	switch {
	case err != nil:
		return false
	case kv == nil:
		return expect == 0
	}
	return kv.Revision == expect
}
