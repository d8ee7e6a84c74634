// Package stats measures storage and the watch caches, for /metrics, under kube-apiserver's names if it has them.
//
// It may know packages cache, storage, store, timing and verb.
package stats

import (
	"apigen.dev/runtime/internal/state/cache"
	"github.com/prometheus/client_golang/prometheus"
)

// Collect sends metrics at each scrape. It describes none before: the metrics of resources depend on the resources.
type Collect func(*Series)

// Describe implements prometheus.Collector.
func (Collect) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c Collect) Collect(out chan<- prometheus.Metric) { c(&Series{out: out}) }

// Series sends metrics that have the same labels.
type Series struct {
	out            chan<- prometheus.Metric
	labels, values []string
}

// With returns s with one more label.
func (s *Series) With(label, value string) *Series {
	labels, values := make([]string, 0, len(s.labels)+1), make([]string, 0, len(s.labels)+1)
	return &Series{s.out, append(append(labels, s.labels...), label), append(append(values, s.values...), value)}
}

func (s *Series) send(name, help string, kind prometheus.ValueType, value int64) {
	s.out <- prometheus.MustNewConstMetric(s.desc(name, help), kind, float64(value), s.values...)
}

func (s *Series) desc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, s.labels, nil)
}

// Gauge sends a gauge.
func (s *Series) Gauge(name, help string, value int64) {
	s.send(name, help, prometheus.GaugeValue, value)
}

// Counter sends a counter.
func (s *Series) Counter(name, help string, value int64) {
	s.send(name, help, prometheus.CounterValue, value)
}

// Counters sends a counter with one value for each value of a label.
func (s *Series) Counters(name, help, label string, values map[string]int64) {
	for text, value := range values {
		s.With(label, text).Counter(name, help, value)
	}
}

// histogram sends a histogram of the cache.
func (s *Series) histogram(name, help string, h cache.Histogram) {
	buckets := make(map[float64]uint64, len(h.Bounds))
	for i, bound := range h.Bounds {
		buckets[bound.Seconds()] = h.Cumulative[i]
	}
	s.out <- prometheus.MustNewConstHistogram(s.desc(name, help), h.Count, h.Sum.Seconds(), buckets, s.values...)
}
