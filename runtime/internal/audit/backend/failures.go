package backend

import (
	"log/slog"
	"maps"
	"sync"
	"time"
)

// Failures counts the events that backends lost, and logs why. Several goroutines may use it.
type Failures struct {
	log *slog.Logger

	mu     sync.Mutex // guards the fields below
	lost   map[string]uint64
	logged time.Time
	unsaid int
}

// NewFailures returns Failures that log to log.
func NewFailures(log *slog.Logger) *Failures { return &Failures{log: log, lost: map[string]uint64{}} }

// logPause is the shortest time between two lines of the log: a backend that fails may lose thousands of events in a
// second.
const logPause = time.Second

func (f *Failures) add(plugin string, events int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost[plugin] += uint64(events)
	f.unsaid += events
	if now := time.Now(); now.Sub(f.logged) >= logPause {
		f.log.Error("audit events were lost", "plugin", plugin, "events", f.unsaid, "error", err)
		f.logged, f.unsaid = now, 0
	}
}

// Lost returns how many events were lost, by the name of the plugin that lost them: log, webhook, buffered or truncate.
func (f *Failures) Lost() map[string]uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.lost)
}
