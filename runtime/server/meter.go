package server

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
)

// operation is an operation of storage. It has kube-apiserver's name if kube-apiserver has the operation.
type operation int

const (
	opGet operation = iota
	opList
	opCount
	opRevision
	opCreate
	opUpdate
	opDelete
	opWatch
	operations
)

var operationNames = [operations]string{"get", "list", "listCount", "revision", "create", "update", "delete", "watch"}

var storageLabels = []string{"operation", "group", "resource"}

// meter returns a backend for one resource that measures its requests.
func (m *metrics) meter(backend storage.Backend, info *verb.Info) storage.Backend {
	return &metered{Backend: backend, metrics: m, info: info}
}

type metered struct {
	storage.Backend
	metrics *metrics
	info    *verb.Info
	// measures are made when they are first needed: a server may have a thousand resources, of which few are used.
	measures [operations]atomic.Pointer[measure]
}

// measure is what is known of one operation on one resource. Both are made at once, so that failures are exposed as 0
// before the first.
type measure struct {
	durations prometheus.Observer
	failures  prometheus.Counter
}

func (m *metered) measure(op operation) *measure {
	if known := m.measures[op].Load(); known != nil {
		return known
	}
	labels := []string{operationNames[op], m.info.Group, m.info.Names.Plural}
	made := &measure{m.metrics.storage.WithLabelValues(labels...), m.metrics.failures.WithLabelValues(labels...)}
	m.measures[op].Store(made)
	return made
}

// observe measures a request that began at begin and ends now with *err.
func (m *metered) observe(ctx context.Context, op operation, begin time.Time, err *error) {
	timing.End(ctx, timing.Storage, operationNames[op], begin)
	measure := m.measure(op)
	measure.durations.Observe(time.Since(begin).Seconds())
	var conflict *storage.ConflictError
	if *err != nil && !errors.As(*err, &conflict) && !errors.Is(*err, context.Canceled) {
		measure.failures.Inc()
	}
}

func (m *metered) Get(
	ctx context.Context, key string, opts storage.GetOptions,
) (kv *storage.KeyValue, revision int64, err error) {
	defer m.observe(ctx, opGet, time.Now(), &err)
	return m.Backend.Get(ctx, key, opts)
}

func (m *metered) Range(ctx context.Context, request storage.RangeRequest) (result *storage.RangeResult, err error) {
	defer m.observe(ctx, opList, time.Now(), &err)
	return m.Backend.Range(ctx, request)
}

func (m *metered) Count(ctx context.Context, prefix string) (count int64, err error) {
	defer m.observe(ctx, opCount, time.Now(), &err)
	return m.Backend.Count(ctx, prefix)
}

func (m *metered) Revision(ctx context.Context) (revision int64, err error) {
	defer m.observe(ctx, opRevision, time.Now(), &err)
	return m.Backend.Revision(ctx)
}

func (m *metered) Put(
	ctx context.Context, key string, value []byte, expect int64, ttl time.Duration,
) (revision int64, err error) {
	op := opUpdate
	if expect == 0 {
		op = opCreate
	}
	defer m.observe(ctx, op, time.Now(), &err)
	return m.Backend.Put(ctx, key, value, expect, ttl)
}

func (m *metered) Delete(ctx context.Context, key string, expect int64) (revision int64, err error) {
	defer m.observe(ctx, opDelete, time.Now(), &err)
	return m.Backend.Delete(ctx, key, expect)
}

func (m *metered) Watch(ctx context.Context, prefix string, after int64) (stream storage.Stream, err error) {
	defer m.observe(ctx, opWatch, time.Now(), &err)
	return m.Backend.Watch(ctx, prefix, after)
}
