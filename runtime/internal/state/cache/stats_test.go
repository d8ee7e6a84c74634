package cache

import (
	"fmt"
	"testing"
)

// TestStatsOfWhatIsKept: the snapshots of the past are counted as they come and go, and budgets stand beside what they
// bound.
func TestStatsOfWhatIsKept(t *testing.T) {
	config := toyConfig(newFake())
	config.Window = Window{Min: 2 * chunkOfAll, Max: 2 * chunkOfAll, Bytes: 1 << 20}
	config.RenditionBytes = 1 << 19
	c, g := fedCache(t, config)
	revision := g.state.Load().revision
	for _, step := range []struct{ changes, snapshots int64 }{{chunkOfAll - 1, 0}, {1, 1}, {chunkOfAll, 2},
		{chunkOfAll / 2, 2}, {chunkOfAll / 2, 2}, {10 * chunkOfAll, 2}} {
		for range step.changes {
			revision++
			c.feed(t, g, fmt.Sprint("a/", revision%7), "x", revision)
		}
		if s := c.Stats(); s.Snapshots != step.snapshots || s.WindowBudget != 1<<20 || s.FormBudget != 1<<19 {
			t.Errorf("at revision %d: %d snapshots, want %d; budgets %d and %d", revision, s.Snapshots, step.snapshots,
				s.WindowBudget, s.FormBudget)
		}
	}
}
