package server

import (
	"context"
	"time"

	"apigen.dev/runtime/registry"
	"apigen.dev/runtime/storage"
	"apigen.dev/runtime/store"
	"github.com/prometheus/client_golang/prometheus"
)

// resources collects, at each scrape, how resources do. There is one series a metric and resource, two where a result
// is a label, whatever clients do.
type resources struct {
	handles []registry.Handle // constant once the server serves
}

// scrapeTimeout bounds what a scrape asks storage for.
const scrapeTimeout = 2 * time.Second

// describe is a metric of one resource; further names are labels beside group and resource.
func describe(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"group", "resource"}, labels...), nil)
}

var (
	objects = prometheus.NewDesc("apiserver_storage_objects",
		"Objects in storage, by resource; -1 if the number is unknown.",
		[]string{"resource"}, nil)

	cacheRevision = describe("apiserver_watch_cache_resource_version", "Revision that the watch cache has reached.")
	cacheFills    = describe("apiserver_watch_cache_initializations_total", "Fills of the watch cache.")
	cacheEvents   = describe("apiserver_watch_cache_events_received_total", "Events that the watch cache received.")
	cacheCapacity = describe("apiserver_watch_cache_capacity", "Capacity of the window, in events.")
	cacheReads    = describe("apiserver_watch_cache_consistent_read_total",
		"Consistent reads of the watch cache; fallback=true counts those that storage answered.", "fallback")
	cacheChecks = describe("apiserver_storage_consistency_checks_total", "Comparisons of the watch cache with storage.",
		"status")

	cacheReady    = describe("apigen_watch_cache_ready", "1 if the watch cache follows storage, else 0.")
	cachePoisoned = describe("apigen_watch_cache_undecodable_objects",
		"Objects in the watch cache that could not be decoded.")
	cacheWindow    = describe("apigen_watch_cache_window_events", "Events in the window.")
	cacheBytes     = describe("apigen_watch_cache_window_bytes", "Memory that the window keeps alive, about.")
	cacheBudget    = describe("apigen_watch_cache_window_budget_bytes", "Memory that the window may keep alive.")
	cacheSnapshots = describe("apigen_watch_cache_snapshots", "Snapshots of earlier revisions in the window.")
	cacheWatchers  = describe("apigen_watch_cache_watchers", "Watches that the watch cache serves.")
	cacheTopics    = describe("apigen_watch_cache_topics",
		"Logs of topics (a namespace, or a value of a field) that watches follow.")
	cacheForms = describe("apigen_watch_cache_rendition_bytes",
		"Memory of renditions in other versions and formats.")
	cacheFormsMost = describe("apigen_watch_cache_rendition_budget_bytes",
		"Memory that renditions in other versions and formats may take.")
	cacheRendered = describe("apigen_watch_cache_renditions_total", "Renditions made in other versions and formats.")
	cacheEvicted  = describe("apigen_watch_cache_renditions_evicted_total",
		"Renditions dropped to stay within the budget.")
	cacheExpired = describe("apigen_watch_cache_expired_total",
		"Watches that ended in 410: they fell out of the window, or began before it.")
	cacheResumes   = describe("apigen_watch_cache_resumes_total", "Watches that the watch cache opened on storage.")
	cacheQuestions = describe("apigen_watch_cache_revision_questions_total",
		"Requests for the revision of storage, each shared by all reads that waited.")
	cacheRollBacks = describe("apigen_watch_cache_storage_rollbacks_total",
		"Times that storage was found rolled back to an older state.")
)

// Describe implements prometheus.Collector. What is collected depends on the resources: it is unchecked.
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
		out <- prometheus.MustNewConstMetric(objects, prometheus.GaugeValue, float64(m.Objects), info.GroupResource().String())
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
	s.out <- prometheus.MustNewConstMetric(desc, kind, float64(value), append([]string{s.group, s.resource}, labels...)...)
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
	s.send(cachePoisoned, gauge, c.Poisoned)
	s.send(cacheCapacity, gauge, c.WindowCapacity)
	s.send(cacheWindow, gauge, c.WindowLen)
	s.send(cacheBytes, gauge, c.WindowBytes)
	s.send(cacheBudget, gauge, c.WindowBudget)
	s.send(cacheSnapshots, gauge, c.Snapshots)
	s.send(cacheWatchers, gauge, c.Cursors)
	s.send(cacheTopics, gauge, c.Topics)
	s.send(cacheForms, gauge, c.FormBytes)
	s.send(cacheFormsMost, gauge, c.FormBudget)
	s.send(cacheFills, counter, c.Fills)
	s.send(cacheResumes, counter, c.Resumes)
	s.send(cacheEvents, counter, c.Events)
	s.send(cacheExpired, counter, c.Expired)
	s.send(cacheRendered, counter, c.Rendered)
	s.send(cacheEvicted, counter, c.Evicted)
	s.send(cacheQuestions, counter, c.Questions)
	s.send(cacheRollBacks, counter, c.RollBacks)
	s.send(cacheReads, counter, max(c.Consistent-c.Lagging, 0), "false")
	s.send(cacheReads, counter, c.Lagging, "true")
	s.send(cacheChecks, counter, c.Checks, "success")
	s.send(cacheChecks, counter, c.Differences, "failure")
	s.send(cacheChecks, counter, c.FailedChecks, "error")
}

// space collects how a backend with a disk of its own does.
type space struct{ maintainer storage.Maintainer }

var (
	databaseSize = prometheus.NewDesc("apiserver_storage_size_bytes",
		"Size of the embedded etcd's database.", []string{"storage_cluster_id"}, nil)
	databaseInUse = prometheus.NewDesc("apigen_storage_in_use_bytes",
		"Bytes of the embedded etcd's database that are in use.", nil, nil)
	databaseQuota = prometheus.NewDesc("apigen_storage_quota_bytes",
		"Largest size of the embedded etcd's database.", nil, nil)
	databaseAlarm = prometheus.NewDesc("apigen_storage_alarm",
		"1 if the embedded etcd raises the alarm, else 0.", []string{"alarm"}, nil)
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
		return // a series that is missing says so, and /readyz says why
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
