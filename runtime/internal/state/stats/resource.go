package stats

import (
	"context"
	"time"

	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/storage"
)

// scrapeTimeout bounds the requests of a scrape to storage.
const scrapeTimeout = 2 * time.Second

// Resources collects the metrics of resources. Their number depends on the resources alone: a metric has one series for
// each resource, and one for each result if the result is a label.
func Resources(handles func() []verb.Handle) Collect {
	return func(s *Series) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		for _, handle := range verb.Distinct(handles()) {
			if measured, ok := handle.(store.Measured); ok {
				s.resource(ctx, handle, measured)
			}
		}
	}
}

func (s *Series) resource(ctx context.Context, handle verb.Handle, measured store.Measured) {
	info, now := handle.Info(), measured.Measure(ctx)
	s.With("resource", info.GroupResource().String()).Gauge("apiserver_storage_objects",
		"Objects in storage, by resource; -1 if the number is unknown.", now.Objects)
	of := s.With("group", info.Group).With("resource", info.Names.Plural)
	of.Gauge("apiserver_resource_objects", "Objects in storage; -1 if the number is unknown.", now.Objects)
	size := int64(-1)
	if _, bytes, known := measured.Size(); known {
		size = bytes
	}
	of.Gauge("apiserver_resource_size_estimate_bytes",
		"Sum of the sizes of the objects as they are stored; -1 if it is unknown.", size)
	if now.Cache != nil {
		of.cacheGauges(now.Cache, handle.Ready() == nil)
		of.cacheCounters(now.Cache)
	}
}

const (
	consistentReads = "apiserver_watch_cache_consistent_read_total"
	consistentHelp  = "Consistent reads of the watch cache; fallback says whether storage answered instead, and " +
		"success is false if the request ended before the cache had all writes."
)

func (s *Series) cacheGauges(c *cache.Stats, ready bool) {
	following := int64(0)
	if ready {
		following = 1
	}
	s.Gauge("apigen_watch_cache_ready", "1 while the watch cache follows storage.", following)
	s.Gauge("apiserver_watch_cache_resource_version", "Revision that the watch cache has reached.", c.Revision)
	s.Gauge("apigen_watch_cache_undecodable_objects",
		"Objects in the watch cache that could not be decoded.", c.Corrupt)
	s.Gauge("watch_cache_capacity", "Events that the window has room for.", c.WindowCapacity)
	s.Gauge("apigen_watch_cache_window_events", "Events in the window.", c.WindowLen)
	s.Gauge("apigen_watch_cache_window_bytes", "Estimated memory that the window keeps.", c.WindowBytes)
	s.Gauge("apigen_watch_cache_window_budget_bytes", "Bound of the memory that the window keeps.", c.WindowBudget)
	s.Gauge("apigen_watch_cache_snapshots", "Older snapshots that the window keeps.", c.Snapshots)
	s.Gauge("apigen_watch_cache_watchers", "Watches that the watch cache serves.", c.Cursors)
	s.Gauge("apigen_watch_cache_topics", "Logs of namespaces and field values that watchers follow.", c.Topics)
	s.Gauge("apigen_watch_cache_rendition_bytes", "Size of the renditions kept beside the stored form.", c.FormBytes)
	s.Gauge("apigen_watch_cache_rendition_budget_bytes",
		"Bound of the size of the renditions kept beside the stored form.", c.FormBudget)
}

func (s *Series) cacheCounters(c *cache.Stats) {
	s.Counter("apiserver_watch_cache_initializations_total", "Times that the watch cache was filled.", c.Fills)
	s.Counter("apigen_watch_cache_resumes_total", "Times that the watch on storage was opened.", c.Resumes)
	s.Counter("apiserver_watch_cache_events_received_total", "Events that the watch cache received.", c.Events)
	s.Counter("apigen_watch_cache_expired_total", "Watches that fell out of the window, or began before it.", c.Expired)
	s.Counter("apigen_watch_cache_renditions_total", "Renditions made beside the stored form.", c.Rendered)
	s.Counter("apigen_watch_cache_renditions_evicted_total", "Renditions dropped to stay within the bound.", c.Evicted)
	s.Counter("apigen_watch_cache_objects_compressed_total", "Objects that were compressed because nobody read them.",
		c.Compressed)
	s.Counter("apigen_watch_cache_objects_expanded_total", "Times that a compressed object was expanded.",
		c.Expanded)
	s.Counter("apigen_watch_cache_revision_questions_total",
		"Requests for the revision of storage. Reads that wait at the same time share a request.", c.Questions)
	s.Counter("apigen_watch_cache_storage_rollbacks_total",
		"Times that the revision of storage went backwards.", c.RollBacks)
	fast, fallen := s.With("fallback", "false"), s.With("fallback", "true")
	fast.With("success", "true").Counter(consistentReads, consistentHelp, max(c.Consistent-c.Lagging-c.Abandoned, 0))
	fast.With("success", "false").Counter(consistentReads, consistentHelp, c.Abandoned)
	fallen.With("success", "true").Counter(consistentReads, consistentHelp, c.Lagging)
	s.histogram("apiserver_watch_cache_read_wait_seconds",
		"How long reads waited until the watch cache had the revision that they need.", c.Waits)
	s.Counters("apiserver_storage_consistency_checks_total", "Comparisons of the watch cache with storage.", "status",
		map[string]int64{"success": c.Checks, "failure": c.Differences, "error": c.FailedChecks})
}

// Space collects what the embedded etcd says of its database.
func Space(maintainer storage.Maintainer) Collect {
	return func(s *Series) {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTimeout)
		defer cancel()
		now, err := maintainer.Space(ctx)
		if err != nil {
			return // /readyz reports the error
		}
		s.With("storage_cluster_id", "embedded").Gauge("apiserver_storage_size_bytes",
			"Size of the embedded etcd's database.", now.Size)
		s.Gauge("apigen_storage_in_use_bytes", "Size of the data in use in the embedded etcd's database.", now.InUse)
		s.Gauge("apigen_storage_quota_bytes", "Quota of the embedded etcd's database.", now.Quota)
		raised := map[string]int64{storage.NoSpace: 0, storage.Corrupt: 0}
		for _, alarm := range now.Alarms {
			if _, known := raised[alarm]; known {
				raised[alarm] = 1
			}
		}
		for alarm, value := range raised {
			s.With("alarm", alarm).Gauge("apigen_storage_alarm", "1 while the embedded etcd raises the alarm.", value)
		}
	}
}
