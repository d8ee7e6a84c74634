package server

import (
	"apigen.dev/runtime/collector"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"
)

// GarbagePolicy is who deals with the dependents of what is deleted.
type GarbagePolicy uint8

const (
	// CollectGarbage is for a server that stands alone: it records a deletion's propagation policy, and acts on it.
	CollectGarbage GarbagePolicy = iota
	// HostCollectsGarbage is for an aggregated server: it records the policy, and the controller manager of its host acts
	// on it.
	HostCollectsGarbage
	// IgnoreGarbage records nothing, since nobody would act on it: all deletion is of the object alone.
	IgnoreGarbage
)

// garbagePolicy is that of the flags. A command whose flags leave authentication or authorization to a host is aggregated;
// where it has no such flags, whoever runs it behind an aggregator says --enable-garbage-collector=false.
func garbagePolicy(set *pflag.FlagSet, enabled bool) GarbagePolicy {
	if !enabled {
		return IgnoreGarbage
	}
	for _, name := range []string{"authentication-kubeconfig", "authorization-kubeconfig"} {
		if flag := set.Lookup(name); flag != nil && flag.Value.String() != "" {
			return HostCollectsGarbage
		}
	}
	return CollectGarbage
}

// garbage are the collector's metrics.
type garbage struct{ collector *collector.Collector }

var (
	garbageObjects    = prometheus.NewDesc("apigen_garbage_collector_objects", "Objects that the garbage collector remembers: those with owners, and those whose deletion waits for dependents.", nil, nil)
	garbageQueued     = prometheus.NewDesc("apigen_garbage_collector_queued", "Objects that the garbage collector is to look at, or to try again.", nil, nil)
	garbageUnfollowed = prometheus.NewDesc("apigen_garbage_collector_unwatched_resources", "Resources that the garbage collector should watch and doesn't.", nil, nil)
	garbageUnreadable = prometheus.NewDesc("apigen_garbage_collector_unreadable_objects", "Objects that can't be read, so that the garbage collector doesn't know their owners.", nil, nil)
	garbageActions    = prometheus.NewDesc("apigen_garbage_collector_actions_total",
		"What the garbage collector did: deleted what nobody owns any more, unlinked from owners, finalized what waited for its dependents; and how often it failed.", []string{"action"}, nil)
	garbageRestarts = prometheus.NewDesc("apigen_garbage_collector_watch_restarts_total", "Times that a watch of the garbage collector had to begin anew.", nil, nil)
)

// Describe implements prometheus.Collector.
func (garbage) Describe(out chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{garbageObjects, garbageQueued, garbageUnfollowed, garbageUnreadable, garbageActions, garbageRestarts} {
		out <- desc
	}
}

// Collect implements prometheus.Collector.
func (g garbage) Collect(out chan<- prometheus.Metric) {
	stats := g.collector.Stats()
	send := func(desc *prometheus.Desc, kind prometheus.ValueType, value int64, labels ...string) {
		out <- prometheus.MustNewConstMetric(desc, kind, float64(value), labels...)
	}
	send(garbageObjects, prometheus.GaugeValue, stats.Objects)
	send(garbageQueued, prometheus.GaugeValue, stats.Queued)
	send(garbageUnfollowed, prometheus.GaugeValue, stats.Unfollowed)
	send(garbageUnreadable, prometheus.GaugeValue, stats.Unreadable)
	send(garbageActions, prometheus.CounterValue, stats.Deleted, "delete")
	send(garbageActions, prometheus.CounterValue, stats.Unlinked, "unlink")
	send(garbageActions, prometheus.CounterValue, stats.Finalized, "finalize")
	send(garbageActions, prometheus.CounterValue, stats.Failed, "fail")
	send(garbageRestarts, prometheus.CounterValue, stats.Restarts)
}
