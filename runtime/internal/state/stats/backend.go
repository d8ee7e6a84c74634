package stats

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/timing"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/runtime/schema"
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

// Storage are the metrics of requests to storage. It is safe for concurrent use.
type Storage struct {
	durations                            *prometheus.HistogramVec
	requests, failures, events, progress *prometheus.CounterVec

	mu       sync.Mutex
	backends map[schema.GroupResource]int // how many there are, without those that were forgotten
}

// NewStorage returns metrics that nothing has filled.
func NewStorage() *Storage {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	operation := []string{"operation", "group", "resource"}
	return &Storage{
		backends: map[schema.GroupResource]int{},
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "etcd_request_duration_seconds",
			Help: "Duration of requests to storage, by operation; of watches until they begin.",
			Buckets: []float64{
				.005, .025, .05, .1, .2, .4, .6, .8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
			},
		}, operation),
		requests: counter("etcd_requests_total", "Requests to storage, by operation.", operation...),
		failures: counter("etcd_request_errors_total",
			"Requests to storage that failed, except for conflicts of optimistic writes.", operation...),
		events: counter("apiserver_storage_events_received_total", "Events that watches of storage received.",
			"group", "resource"),
		progress: counter("etcd_bookmark_total",
			"Messages that watches of storage received which have no events, and say how far the watch has come.",
			"group", "resource"),
	}
}

func (s *Storage) vectors() []prometheus.Collector {
	return []prometheus.Collector{s.durations, s.requests, s.failures, s.events, s.progress}
}

// Describe implements prometheus.Collector.
func (s *Storage) Describe(out chan<- *prometheus.Desc) {
	for _, vector := range s.vectors() {
		vector.Describe(out)
	}
}

// Collect implements prometheus.Collector.
func (s *Storage) Collect(out chan<- prometheus.Metric) {
	for _, vector := range s.vectors() {
		vector.Collect(out)
	}
}

// Backend returns a backend for one resource that measures its requests. If the resource may go before the server
// ends, Forget says so.
func (s *Storage) Backend(backend storage.Backend, info *verb.Info) storage.Backend {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.backends[info.GroupResource()]++
	return &metered{Backend: backend, metrics: s, info: info}
}

// Forget says that a backend of a resource is no longer used. With the last one, the series of the resource go: a
// server in which definitions come and go would keep more and more of them.
func (s *Storage) Forget(info *verb.Info) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := info.GroupResource()
	if s.backends[name]--; s.backends[name] > 0 {
		return
	}
	delete(s.backends, name)
	labels := prometheus.Labels{"group": name.Group, "resource": name.Resource}
	s.durations.DeletePartialMatch(labels)
	for _, counter := range []*prometheus.CounterVec{s.requests, s.failures, s.events, s.progress} {
		counter.DeletePartialMatch(labels)
	}
}

type metered struct {
	storage.Backend
	metrics *Storage
	info    *verb.Info
	// measures are made when they are first needed: a server may have a thousand resources, of which few are used.
	measures [operations]atomic.Pointer[measure]
}

// measure is what is known of one operation on one resource. All are made at once, so that failures are exposed as 0
// before the first.
type measure struct {
	durations          prometheus.Observer
	requests, failures prometheus.Counter
}

func (m *metered) measure(op operation) *measure {
	if known := m.measures[op].Load(); known != nil {
		return known
	}
	labels := []string{operationNames[op], m.info.Group, m.info.Names.Plural}
	of := m.metrics
	made := &measure{
		of.durations.WithLabelValues(labels...), of.requests.WithLabelValues(labels...),
		of.failures.WithLabelValues(labels...),
	}
	m.measures[op].Store(made)
	return made
}

// observe measures a request that began at begin and ends now with *err.
func (m *metered) observe(ctx context.Context, op operation, begin time.Time, err *error) {
	timing.End(ctx, timing.Storage, operationNames[op], begin)
	measure := m.measure(op)
	measure.requests.Inc()
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
	stream, err = m.Backend.Watch(ctx, prefix, after)
	if err != nil {
		return nil, err
	}
	counted := &countedStream{
		Stream:   stream,
		events:   m.metrics.events.WithLabelValues(m.info.Group, m.info.Names.Plural),
		progress: m.metrics.progress.WithLabelValues(m.info.Group, m.info.Names.Plural),
	}
	if resumer, ok := stream.(storage.Resumer); ok {
		return resumingStream{counted, resumer}, nil
	}
	return counted, nil
}

// countedStream counts the events of a stream.
type countedStream struct {
	storage.Stream
	events, progress prometheus.Counter
}

// Next implements storage.Stream.
func (s *countedStream) Next(ctx context.Context) (storage.Batch, error) {
	batch, err := s.Stream.Next(ctx)
	switch n := len(batch.Events); {
	case n > 0:
		s.events.Add(float64(n))
	case err == nil:
		s.progress.Inc()
	}
	return batch, err
}

// resumingStream is a countedStream whose stream is a storage.Resumer.
type resumingStream struct {
	*countedStream
	storage.Resumer
}
