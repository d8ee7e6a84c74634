package cache

import "sync/atomic"

// Stats is how a cache does: gauges as they are, and counters since New.
type Stats struct {
	// Revision of the current snapshot, its entries, and those among them that could not be decoded.
	Revision, Entries, Corrupt int64
	// WindowLen changes are in the log, which has room for WindowCapacity and keeps about WindowBytes alive.
	WindowLen, WindowCapacity, WindowBytes int64
	// Snapshots of the past are kept, among what WindowBytes counts; WindowBudget bounds that.
	Snapshots, WindowBudget int64
	// Cursors are open, in Topics beside that of the whole prefix.
	Cursors, Topics int64
	// FormBytes is the size of the forms kept beside the stored one, FormBudget what it may become.
	FormBytes, FormBudget int64

	// Events were applied in Batches; the rest of the batches told progress alone.
	Batches, Events int64
	// Fills were completed, and Resumes times the watch was opened.
	Fills, Resumes int64
	// Expired cursors, or requests for one.
	Expired int64
	// Rendered forms, and those Evicted from the budget.
	Rendered, Evicted int64
	// Questions for the backend's revision; Consistent reads, and those that were Lagging.
	Questions, Consistent, Lagging int64
	// RollBacks of the backend that were noticed.
	RollBacks int64
	// Checks found the cache to be what the backend holds, Differences that it was not, and FailedChecks nothing.
	Checks, Differences, FailedChecks int64
}

type counters struct {
	windowLen, windowCapacity, windowBytes atomic.Int64
	cursors, topics                        atomic.Int64
	batches, events, fills, resumes        atomic.Int64
	expired, rendered, evicted             atomic.Int64
	questions, consistent, lagging         atomic.Int64
	rollBacks                              atomic.Int64
	checks, differences, failedChecks      atomic.Int64
}

// Stats returns the numbers of this moment; they are not from one instant.
func (c *Cache) Stats() Stats {
	n := &c.counts
	s := Stats{
		WindowLen: n.windowLen.Load(), WindowCapacity: n.windowCapacity.Load(), WindowBytes: n.windowBytes.Load(),
		Cursors: n.cursors.Load(), Topics: n.topics.Load(),
		Batches: n.batches.Load(), Events: n.events.Load(), Fills: n.fills.Load(), Resumes: n.resumes.Load(),
		Expired: n.expired.Load(), Rendered: n.rendered.Load(), Evicted: n.evicted.Load(),
		Questions: n.questions.Load(), Consistent: n.consistent.Load(), Lagging: n.lagging.Load(),
		RollBacks:    n.rollBacks.Load(),
		WindowBudget: c.config.Window.Bytes, FormBudget: c.config.RenditionBytes,
		Checks: n.checks.Load(), Differences: n.differences.Load(), FailedChecks: n.failedChecks.Load(),
	}
	if current, err := c.Current(); err == nil {
		s.Revision = current.revision
		g := c.generation.Load()
		s.FormBytes, s.Snapshots = g.shared.pool.size(), g.all.log.view.Load().roots()
		s.Entries, s.Corrupt = int64(current.root.Len()), int64(current.root.Marked())
	}
	return s
}
