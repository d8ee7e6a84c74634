package server

import (
	"context"
	"time"

	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/store"
	"github.com/prometheus/client_golang/prometheus"
)

// resources collects the metrics of resources at each scrape. Their number depends on the resources alone: a metric has
// one series for each resource, and one for each result if the result is a label.
type resources struct {
	handles []registry.Handle // constant after the first request
}

// scrapeTimeout bounds the requests of a scrape to storage.
const scrapeTimeout = 2 * time.Second

// describe describes a metric of a resource. labels are the labels beside group and resource.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"group", "resource"}, labels...), nil)
}

var (
	objects = prometheus.NewDesc("apiserver_storage_objects",
		"Objects in storage, by resource; -1 if the number is unknown.",
		[]string{"resource"}, nil)

	cacheRevision = describe("apiserver_watch_cache_resource_version", "Revision that the watch cache has reached.")
	cacheFills    = describe("apiserver_watch_cache_initializations_total", "Times that the watch cache was filled.")
	cacheEvents   = describe("apiserver_watch_cache_events_received_total", "Events that the watch cache received.")
	cacheCapacity = describe("apiserver_watch_cache_capacity", "Events that the window has room for.")
	cacheReads    = describe("apiserver_watch_cache_consistent_read_total",
		"Consistent reads of the watch cache; fallback tells whether storage answered.", "fallback")
	cacheChecks = describe("apiserver_storage_consistency_checks_total",
		"Comparisons of the watch cache with storage.", "status")

	cacheReady   = describe("apigen_watch_cache_ready", "1 while the watch cache follows storage.")
	cacheCorrupt = describe("apigen_watch_cache_undecodable_objects",
		"Objects in the watch cache that could not be decoded.")
	cacheWindow    = describe("apigen_watch_cache_window_events", "Events in the window.")
	cacheBytes     = describe("apigen_watch_cache_window_bytes", "Estimated memory that the window keeps.")
	cacheBudget    = describe("apigen_watch_cache_window_budget_bytes", "Bound of the memory that the window keeps.")
	cacheSnapshots = describe("apigen_watch_cache_snapshots", "Older snapshots that the window keeps.")
	cacheWatchers  = describe("apigen_watch_cache_watchers", "Watches that the watch cache serves.")
	cacheTopics    = describe("apigen_watch_cache_topics", "Logs of namespaces and field values that watchers follow.")
	cacheForms     = describe("apigen_watch_cache_rendition_bytes",
		"Size of the renditions kept beside the stored form.")
	cacheFormsBudget = describe("apigen_watch_cache_rendition_budget_bytes",
		"Bound of the size of the renditions kept beside the stored form.")
	cacheRendered = describe("apigen_watch_cache_renditions_total", "Renditions made beside the stored form.")
	cacheEvicted  = describe("apigen_watch_cache_renditions_evicted_total",
		"Renditions dropped to stay within the bound.")
	cacheExpired = describe("apigen_watch_cache_expired_total",
		"Watches that fell out of the window, or began before it.")
	cacheResumes          = describe("apigen_watch_cache_resumes_total", "Times that the watch on storage was opened.")
	cacheRevisionRequests = describe("apigen_watch_cache_revision_questions_total",
		"Requests for the revision of storage. Reads that wait at the same time share a request.")
	cacheRollBacks = describe("apigen_watch_cache_storage_rollbacks_total",
		"Times that the revision of storage went backwards.")
)

// Describe implements prometheus.Collector. It describes nothing, because the metrics depend on the resources.
func (r *resources) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (r *resources) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	for _, handle := range r.handles {
		info := handle.Info()
		measured, ok := handle.(registry.Measured)
		if !ok {
			continue
		}
		m := measured.Measure(ctx)
		out <- prometheus.MustNewConstMetric(objects, prometheus.GaugeValue, float64(m.Objects),
			info.GroupResource().String())
		if m.Cache != nil {
			series{out, info.Group, info.Names.Plural}.cache(m, handle.Ready() == nil)
		}
	}
}

// series sends metrics of one resource.
type series struct {
	out             chan<- prometheus.Metric
	group, resource string
}

func (s series) send(desc *prometheus.Desc, kind prometheus.ValueType, value int64, labels ...string) {
	labels = append([]string{s.group, s.resource}, labels...)
	s.out <- prometheus.MustNewConstMetric(desc, kind, float64(value), labels...)
}

func (s series) cache(m store.Measurement, ready bool) {
	const gauge, counter = prometheus.GaugeValue, prometheus.CounterValue
	c := m.Cache
	following := int64(0)
	if ready {
		following = 1
	}
	s.send(cacheReady, gauge, following)
	s.send(cacheRevision, gauge, c.Revision)
	s.send(cacheCorrupt, gauge, c.Corrupt)
	s.send(cacheCapacity, gauge, c.WindowCapacity)
	s.send(cacheWindow, gauge, c.WindowLen)
	s.send(cacheBytes, gauge, c.WindowBytes)
	s.send(cacheBudget, gauge, c.WindowBudget)
	s.send(cacheSnapshots, gauge, c.Snapshots)
	s.send(cacheWatchers, gauge, c.Cursors)
	s.send(cacheTopics, gauge, c.Topics)
	s.send(cacheForms, gauge, c.FormBytes)
	s.send(cacheFormsBudget, gauge, c.FormBudget)
	s.send(cacheFills, counter, c.Fills)
	s.send(cacheResumes, counter, c.Resumes)
	s.send(cacheEvents, counter, c.Events)
	s.send(cacheExpired, counter, c.Expired)
	s.send(cacheRendered, counter, c.Rendered)
	s.send(cacheEvicted, counter, c.Evicted)
	s.send(cacheRevisionRequests, counter, c.Questions)
	s.send(cacheRollBacks, counter, c.RollBacks)
	s.send(cacheReads, counter, max(c.Consistent-c.Lagging, 0), "false")
	s.send(cacheReads, counter, c.Lagging, "true")
	s.send(cacheChecks, counter, c.Checks, "success")
	s.send(cacheChecks, counter, c.Differences, "failure")
	s.send(cacheChecks, counter, c.FailedChecks, "error")
}

// space collects the metrics of a backend with a database of its own.
type space struct{ maintainer storage.Maintainer }

var (
	databaseSize = prometheus.NewDesc("apiserver_storage_size_bytes",
		"Size of the embedded etcd's database.", []string{"storage_cluster_id"}, nil)
	databaseInUse = prometheus.NewDesc("apigen_storage_in_use_bytes",
		"Size of the data in use in the embedded etcd's database.", nil, nil)
	databaseQuota = prometheus.NewDesc("apigen_storage_quota_bytes", "Quota of the embedded etcd's database.", nil, nil)
	databaseAlarm = prometheus.NewDesc("apigen_storage_alarm",
		"1 while the embedded etcd raises the alarm.", []string{"alarm"}, nil)
)

// Describe implements prometheus.Collector.
func (s *space) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{databaseSize, databaseInUse, databaseQuota, databaseAlarm} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (s *space) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
	defer cancel()
	now, err := s.maintainer.Space(ctx)
	if err != nil {
		return // /readyz reports the error
	}
	send := func(desc *prometheus.Desc, value int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, float64(value), labels...)
	}
	send(databaseSize, now.Size, "embedded")
	send(databaseInUse, now.InUse)
	send(databaseQuota, now.Quota)
	raised := map[string]int64{storage.NoSpace: 0, storage.Corrupt: 0}
	for _, alarm := range now.Alarms {
		if _, known := raised[alarm]; known {
			raised[alarm] = 1
		}
	}
	for alarm, value := range raised {
		send(databaseAlarm, value, alarm)
	}
}
