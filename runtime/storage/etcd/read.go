package etcd

import (
	"context"

	"apigen.dev/runtime/storage"
	"go.etcd.io/etcd/api/v3/mvccpb"
	clientv3 "go.etcd.io/etcd/client/v3"
)

func (b *backend) read(ctx context.Context, what, key string,
	options ...clientv3.OpOption) (*clientv3.GetResponse, error) {
	if err := b.usable(ctx); err != nil {
		return nil, err
	}
	response, err := b.kv.Get(clientv3.WithRequireLeader(ctx), key, options...)
	if err != nil {
		return nil, b.readError(ctx, what+" "+key, err)
	}
	return response, nil
}

func (b *backend) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error) {
	var options []clientv3.OpOption
	if opts.RevisionOnly {
		options = append(options, clientv3.WithKeysOnly())
	}
	response, err := b.read(ctx, "get", key, options...)
	if err != nil {
		return nil, 0, err
	}
	if len(response.Kvs) == 0 {
		return nil, response.Header.Revision, nil
	}
	return keyValue(response.Kvs[0]), response.Header.Revision, nil
}

func (b *backend) Range(ctx context.Context, req storage.RangeRequest) (*storage.RangeResult, error) {
	if err := req.Validate(); err != nil {
		return nil, err
	}
	options := []clientv3.OpOption{clientv3.WithLimit(req.Limit), clientv3.WithRev(req.Revision)}
	from, whole := req.From, req.From == ""
	if whole {
		from = req.Prefix
		options = append(options, clientv3.WithPrefix())
	} else {
		options = append(options, clientv3.WithRange(clientv3.GetPrefixRangeEnd(req.Prefix)))
	}
	response, err := b.read(ctx, "range", from, options...)
	if err != nil {
		return nil, err
	}
	result := &storage.RangeResult{Revision: response.Header.Revision, More: response.More}
	if req.Revision > 0 {
		result.Revision = req.Revision
	}
	if len(response.Kvs) > 0 {
		result.Items = make([]storage.KeyValue, len(response.Kvs))
		for i, kv := range response.Kvs {
			result.Items[i] = *keyValue(kv)
		}
	}
	result.Remaining = response.Count - int64(len(result.Items))
	return result, nil
}

func (b *backend) Count(ctx context.Context, prefix string) (int64, error) {
	response, err := b.read(ctx, "count", prefix, clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return response.Count, nil
}

func (b *backend) Revision(ctx context.Context) (int64, error) {
	response, err := b.read(ctx, "revision, asked for by", b.anyKey, clientv3.WithCountOnly())
	if err != nil {
		return 0, err
	}
	return response.Header.Revision, nil
}

func keyValue(kv *mvccpb.KeyValue) *storage.KeyValue {
	return &storage.KeyValue{Key: string(kv.Key), Value: kv.Value, Revision: kv.ModRevision}
}
