package server

import (
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/api"
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
func (m *metrics) meter(backend storage.Backend, info *api.Info) storage.Backend {
	metered := &meter{Backend: backend}
	for op, name := range operationNames {
		metered.durations[op] = m.storage.WithLabelValues(name, info.Group, info.Names.Plural)
		metered.failures[op] = m.failures.WithLabelValues(name, info.Group, info.Names.Plural)
	}
	return metered
}

type meter struct {
	storage.Backend
	durations [operations]prometheus.Observer
	failures  [operations]prometheus.Counter
}

func (m *meter) observe(op operation, begin time.Time, err error) {
	m.durations[op].Observe(time.Since(begin).Seconds())
	var conflict *storage.ConflictError
	if err != nil && !errors.As(err, &conflict) && !errors.Is(err, context.Canceled) {
		m.failures[op].Inc()
	}
}

func (m *meter) Get(ctx context.Context, key string, opts storage.GetOptions) (*storage.KeyValue, int64, error) {
	begin := time.Now()
	kv, revision, err := m.Backend.Get(ctx, key, opts)
	m.observe(opGet, begin, err)
	return kv, revision, err
}

func (m *meter) Range(ctx context.Context, request storage.RangeRequest) (*storage.RangeResult, error) {
	begin := time.Now()
	result, err := m.Backend.Range(ctx, request)
	m.observe(opList, begin, err)
	return result, err
}

func (m *meter) Count(ctx context.Context, prefix string) (int64, error) {
	begin := time.Now()
	count, err := m.Backend.Count(ctx, prefix)
	m.observe(opCount, begin, err)
	return count, err
}

func (m *meter) Revision(ctx context.Context) (int64, error) {
	begin := time.Now()
	revision, err := m.Backend.Revision(ctx)
	m.observe(opRevision, begin, err)
	return revision, err
}

func (m *meter) Put(ctx context.Context, key string, value []byte, expect int64, ttl time.Duration) (int64, error) {
	begin, op := time.Now(), opUpdate
	if expect == 0 {
		op = opCreate
	}
	revision, err := m.Backend.Put(ctx, key, value, expect, ttl)
	m.observe(op, begin, err)
	return revision, err
}

func (m *meter) Delete(ctx context.Context, key string, expect int64) (int64, error) {
	begin := time.Now()
	revision, err := m.Backend.Delete(ctx, key, expect)
	m.observe(opDelete, begin, err)
	return revision, err
}

func (m *meter) Watch(ctx context.Context, prefix string, after int64) (storage.Stream, error) {
	begin := time.Now()
	stream, err := m.Backend.Watch(ctx, prefix, after)
	m.observe(opWatch, begin, err)
	return stream, err
}
