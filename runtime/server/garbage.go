package server

import (
	"apigen.dev/runtime/internal/collector"
	"apigen.dev/runtime/internal/state/stats"
	"github.com/spf13/pflag"
)

// GarbagePolicy says what the server does about the dependents of objects that clients delete.
type GarbagePolicy uint8

const (
	// CollectGarbage is for a server that stands alone: it records a deletion's propagation policy as a finalizer, and
	// its own collector deletes or orphans the dependents.
	CollectGarbage GarbagePolicy = iota
	// DelegateGarbage is for a server whose garbage kube-controller-manager or another collector collects: it records
	// policies and honours finalizers as with CollectGarbage, and runs no collector.
	DelegateGarbage
	// IgnoreGarbage is for a server whose garbage nobody collects: it records no policy, since no collector would
	// remove the finalizer. Every deletion removes the one object alone.
	IgnoreGarbage
)

// The values of --garbage-collector.
const (
	serverCollects   = "server"
	externalCollects = "external"
)

func (f *flags) addGarbage(set *pflag.FlagSet) {
	set.BoolVar(&f.enableGarbageCollector, "enable-garbage-collector", true,
		"record the propagation policy of a deletion as a finalizer; with false a deletion is of one object alone. "+
			"With --garbage-collector=external it must equal the flag of the kube-controller-manager")
	set.StringVar(&f.garbageCollector, "garbage-collector", "",
		"who deletes or orphans the dependents of deleted objects: server (the default, this process) or "+
			"external (kube-controller-manager, as for a server behind an aggregator)")
}

func (f *flags) checkGarbage(bad func(format string, args ...any)) {
	switch f.garbageCollector {
	case "":
	case serverCollects, externalCollects:
		if !f.enableGarbageCollector {
			bad("--garbage-collector goes with --enable-garbage-collector=true")
		}
	default:
		bad("--garbage-collector: %q is neither %s nor %s", f.garbageCollector, serverCollects, externalCollects)
	}
}

// garbagePolicy returns the policy that the flags ask for. A command whose flags leave authentication or authorization
// to a host is aggregated: without --garbage-collector, its host collects.
func (f *flags) garbagePolicy(set *pflag.FlagSet) GarbagePolicy {
	switch {
	case !f.enableGarbageCollector:
		return IgnoreGarbage
	case f.garbageCollector == externalCollects:
		return DelegateGarbage
	case f.garbageCollector == serverCollects:
		return CollectGarbage
	}
	for _, name := range []string{"authentication-kubeconfig", "authorization-kubeconfig"} {
		if set.Changed(name) { // an empty value stands for the pod's service account
			return DelegateGarbage
		}
	}
	return CollectGarbage
}

func collectGarbage(c *collector.Collector) stats.Collect {
	return func(s *stats.Series) {
		now := c.Stats()
		s.Gauge("apigen_garbage_collector_objects", "Objects in the graph of the garbage collector: those with "+
			"owners, and those whose deletion waits for dependents.", now.Objects)
		s.Gauge("apigen_garbage_collector_queued",
			"Objects that the garbage collector is to handle or to retry.", now.Queued)
		s.Gauge("apigen_garbage_collector_unwatched_resources",
			"Resources that the garbage collector can't watch at the moment.", now.Unfollowed)
		s.Gauge("apigen_garbage_collector_unreadable_objects",
			"Objects that can't be read, so that their owners are unknown.", now.Corrupt)
		s.Counters("apigen_garbage_collector_actions_total", "Actions of the garbage collector: delete (of an object "+
			"without owners), unlink (from absent owners), finalize (after waiting for dependents), and fail.",
			"action", map[string]int64{
				"delete": now.Deleted, "unlink": now.Unlinked, "finalize": now.Finalized, "fail": now.Failed,
			})
		s.Counter("apigen_garbage_collector_watch_restarts_total",
			"Restarts of watches of the garbage collector.", now.Restarts)
	}
}
