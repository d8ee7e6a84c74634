package cache

import (
	"context"
	"sync/atomic"
	"time"

	"apigen.dev/runtime/internal/timing"
)

// Stats describes a cache: gauges, and counters since New.
type Stats struct {
	// Revision of the current snapshot, the number of its entries, and how many of these are corrupt.
	Revision, Entries, Corrupt int64
	// WindowLen is the number of changes in the log, WindowCapacity the number for which it has room, and WindowBytes
	// roughly the memory that it keeps alive.
	WindowLen, WindowCapacity, WindowBytes int64
	// Snapshots is the number of past states that are kept. Their memory is part of WindowBytes, which WindowBudget
	// bounds.
	Snapshots, WindowBudget int64
	// Cursors is the number of open cursors, Topics that of their topics apart from the whole prefix.
	Cursors, Topics int64
	// FormBytes is the size of the forms kept beside the stored one, FormBudget its bound.
	FormBytes, FormBudget int64

	// Batches and the Events in them were applied. Some batches report progress alone.
	Batches, Events int64
	// Fills counts how often the cache was filled, Resumes how often the watch was opened.
	Fills, Resumes int64
	// Expired counts expired cursors, and requests for a cursor that had expired.
	Expired int64
	// Rendered counts rendered forms, Evicted the forms that the budget had no room for.
	Rendered, Evicted int64
	// Compressed counts stored forms that were compressed because nobody read them, and Expanded how often one of them
	// was expanded, for a reader, for another form, or for a comparison with the backend.
	Compressed, Expanded int64
	// Questions for the backend's revision, Consistent reads, those among these that failed with ErrLagging, and those
	// that were Abandoned because their request ended.
	Questions, Consistent, Lagging, Abandoned int64
	// Waits are the times that reads waited for a revision.
	Waits Histogram
	// RollBacks of the backend that the cache noticed.
	RollBacks int64
	// Checks found no difference, Differences found one, and FailedChecks could not compare.
	Checks, Differences, FailedChecks int64
}

type counters struct {
	batches, events, fills, resumes   atomic.Int64
	cursors                           atomic.Int64
	expired, rendered, evicted        atomic.Int64
	compressed, expanded              atomic.Int64
	questions, consistent, lagging    atomic.Int64
	abandoned                         atomic.Int64
	waits                             waits
	rollBacks                         atomic.Int64
	checks, differences, failedChecks atomic.Int64
}

// Size returns the number of entries in the current snapshot, and the sum of the sizes of their stored forms. It
// returns false while the cache has none. It costs nothing.
func (c *Cache) Size() (entries, bytes int64, known bool) {
	g := c.generation.Load()
	if g == nil {
		return 0, 0, false
	}
	current := g.state.Load()
	return int64(current.root.Len()), current.size, true
}

// Stats returns the present numbers, which are not from one instant.
func (c *Cache) Stats() Stats {
	n := &c.counts
	s := Stats{
		Cursors: n.cursors.Load(),
		Batches: n.batches.Load(), Events: n.events.Load(), Fills: n.fills.Load(), Resumes: n.resumes.Load(),
		Expired: n.expired.Load(), Rendered: n.rendered.Load(), Evicted: n.evicted.Load(),
		Compressed: n.compressed.Load(), Expanded: n.expanded.Load(),
		Questions: n.questions.Load(), Consistent: n.consistent.Load(), Lagging: n.lagging.Load(),
		Abandoned: n.abandoned.Load(), Waits: n.waits.histogram(),
		RollBacks:    n.rollBacks.Load(),
		WindowBudget: c.config.Window.Bytes, FormBudget: c.config.RenditionBytes,
		Checks: n.checks.Load(), Differences: n.differences.Load(), FailedChecks: n.failedChecks.Load(),
	}
	g := c.generation.Load()
	if g == nil {
		return s
	}
	current := g.state.Load()
	s.Revision, s.Entries = current.revision, int64(current.root.Len())
	s.Corrupt = int64(current.root.Marked())
	s.FormBytes, s.Snapshots = g.shared.pool.size(), g.all.log.view.Load().roots()
	g.mu.Lock()
	defer g.mu.Unlock()
	s.WindowLen, s.WindowCapacity, s.WindowBytes = int64(g.all.log.len()), int64(g.window.capacity), g.window.bytes
	s.Topics = int64(len(g.topics))
	return s
}

// Histogram counts durations.
type Histogram struct {
	Count uint64
	Sum   time.Duration
	// Cumulative has, for each of the Bounds, the number of durations up to it.
	Bounds     []time.Duration
	Cumulative []uint64
}

// waitBounds are kube-apiserver's.
var waitBounds = [...]time.Duration{
	5 * time.Millisecond, 25 * time.Millisecond, 50 * time.Millisecond, 100 * time.Millisecond, 200 * time.Millisecond,
	400 * time.Millisecond, 600 * time.Millisecond, 800 * time.Millisecond, time.Second, 1250 * time.Millisecond,
	1500 * time.Millisecond, 2 * time.Second, 3 * time.Second,
}

// waits counts durations by the first bound that they don't exceed; the last number is that of those that exceed all.
type waits struct {
	counts [len(waitBounds) + 1]atomic.Uint64
	sum    atomic.Int64
}

func (w *waits) observe(d time.Duration) {
	i := 0
	for i < len(waitBounds) && d > waitBounds[i] {
		i++
	}
	w.counts[i].Add(1)
	w.sum.Add(int64(d))
}

func (w *waits) histogram() Histogram {
	h := Histogram{Sum: time.Duration(w.sum.Load()), Bounds: waitBounds[:]}
	for i := range w.counts {
		h.Count += w.counts[i].Load()
		if i < len(waitBounds) {
			h.Cumulative = append(h.Cumulative, h.Count)
		}
	}
	return h
}

// waited notes that the request of ctx has waited for a revision since began.
func (c *Cache) waited(ctx context.Context, began time.Time) {
	ended := time.Now()
	c.counts.waits.observe(ended.Sub(began))
	timing.Add(ctx, timing.Part{Stage: timing.CacheWait, Detail: c.config.Name, Began: began, Ended: ended})
}
