package server

import (
	"context"
	"time"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
	"github.com/prometheus/client_golang/prometheus"
)

// collect sends metrics at each scrape. It describes none before: the metrics of resources depend on the resources.
type collect func(series)

func (collect) Describe(chan<- *prometheus.Desc) {}

func (c collect) Collect(out chan<- prometheus.Metric) { c(series{out: out}) }

// series sends metrics that have the same labels.
type series struct {
	out            chan<- prometheus.Metric
	labels, values []string
}

func (s series) with(label, value string) series {
	labels, values := make([]string, 0, len(s.labels)+1), make([]string, 0, len(s.labels)+1)
	return series{s.out, append(append(labels, s.labels...), label), append(append(values, s.values...), value)}
}

func (s series) send(name, help string, kind prometheus.ValueType, value int64) {
	s.out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, s.labels, nil), kind, float64(value),
		s.values...)
}

func (s series) gauge(name, help string, value int64) {
	s.send(name, help, prometheus.GaugeValue, value)
}
func (s series) counter(name, help string, value int64) {
	s.send(name, help, prometheus.CounterValue, value)
}

// counters sends a counter with one value for each value of a label.
func (s series) counters(name, help, label string, values map[string]int64) {
	for text, value := range values {
		s.with(label, text).counter(name, help, value)
	}
}

// scrapeTimeout bounds the requests of a scrape to storage.
const scrapeTimeout = 2 * time.Second

// collectResources sends the metrics of resources. Their number depends on the resources alone: a metric has one series
// for each resource, and one for each result if the result is a label.
func (m *metrics) collectResources(s series) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	for _, handle := range verb.Distinct(m.table().handles) {
		measured, ok := handle.(store.Measured)
		if !ok {
			continue
		}
		info, now := handle.Info(), measured.Measure(ctx)
		s.with("resource", info.GroupResource().String()).gauge("apiserver_storage_objects",
			"Objects in storage, by resource; -1 if the number is unknown.", now.Objects)
		if now.Cache != nil {
			of := s.with("group", info.Group).with("resource", info.Names.Plural)
			of.cacheGauges(now.Cache, handle.Ready() == nil)
			of.cacheCounters(now.Cache)
		}
	}
}

func (s series) cacheGauges(c *cache.Stats, ready bool) {
	following := int64(0)
	if ready {
		following = 1
	}
	s.gauge("apigen_watch_cache_ready", "1 while the watch cache follows storage.", following)
	s.gauge("apiserver_watch_cache_resource_version", "Revision that the watch cache has reached.", c.Revision)
	s.gauge("apigen_watch_cache_undecodable_objects",
		"Objects in the watch cache that could not be decoded.", c.Corrupt)
	s.gauge("apiserver_watch_cache_capacity", "Events that the window has room for.", c.WindowCapacity)
	s.gauge("apigen_watch_cache_window_events", "Events in the window.", c.WindowLen)
	s.gauge("apigen_watch_cache_window_bytes", "Estimated memory that the window keeps.", c.WindowBytes)
	s.gauge("apigen_watch_cache_window_budget_bytes", "Bound of the memory that the window keeps.", c.WindowBudget)
	s.gauge("apigen_watch_cache_snapshots", "Older snapshots that the window keeps.", c.Snapshots)
	s.gauge("apigen_watch_cache_watchers", "Watches that the watch cache serves.", c.Cursors)
	s.gauge("apigen_watch_cache_topics", "Logs of namespaces and field values that watchers follow.", c.Topics)
	s.gauge("apigen_watch_cache_rendition_bytes", "Size of the renditions kept beside the stored form.", c.FormBytes)
	s.gauge("apigen_watch_cache_rendition_budget_bytes",
		"Bound of the size of the renditions kept beside the stored form.", c.FormBudget)
}

func (s series) cacheCounters(c *cache.Stats) {
	s.counter("apiserver_watch_cache_initializations_total", "Times that the watch cache was filled.", c.Fills)
	s.counter("apigen_watch_cache_resumes_total", "Times that the watch on storage was opened.", c.Resumes)
	s.counter("apiserver_watch_cache_events_received_total", "Events that the watch cache received.", c.Events)
	s.counter("apigen_watch_cache_expired_total", "Watches that fell out of the window, or began before it.", c.Expired)
	s.counter("apigen_watch_cache_renditions_total", "Renditions made beside the stored form.", c.Rendered)
	s.counter("apigen_watch_cache_renditions_evicted_total", "Renditions dropped to stay within the bound.", c.Evicted)
	s.counter("apigen_watch_cache_revision_questions_total",
		"Requests for the revision of storage. Reads that wait at the same time share a request.", c.Questions)
	s.counter("apigen_watch_cache_storage_rollbacks_total",
		"Times that the revision of storage went backwards.", c.RollBacks)
	s.counters("apiserver_watch_cache_consistent_read_total",
		"Consistent reads of the watch cache; fallback tells whether storage answered.", "fallback",
		map[string]int64{"false": max(c.Consistent-c.Lagging, 0), "true": c.Lagging})
	s.counters("apiserver_storage_consistency_checks_total", "Comparisons of the watch cache with storage.", "status",
		map[string]int64{"success": c.Checks, "failure": c.Differences, "error": c.FailedChecks})
}

func collectSpace(maintainer storage.Maintainer) collect {
	return func(s series) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		now, err := maintainer.Space(ctx)
		if err != nil {
			return // /readyz reports the error
		}
		s.with("storage_cluster_id", "embedded").gauge("apiserver_storage_size_bytes",
			"Size of the embedded etcd's database.", now.Size)
		s.gauge("apigen_storage_in_use_bytes", "Size of the data in use in the embedded etcd's database.", now.InUse)
		s.gauge("apigen_storage_quota_bytes", "Quota of the embedded etcd's database.", now.Quota)
		raised := map[string]int64{storage.NoSpace: 0, storage.Corrupt: 0}
		for _, alarm := range now.Alarms {
			if _, known := raised[alarm]; known {
				raised[alarm] = 1
			}
		}
		for alarm, value := range raised {
			s.with("alarm", alarm).gauge("apigen_storage_alarm", "1 while the embedded etcd raises the alarm.", value)
		}
	}
}
