package filter

import (
	"context"
	"sync"
	"time"
)

const (
	// refusalsAtOnce is how many requests without valid credentials are refused without a pause.
	refusalsAtOnce = 100
	// refusalInterval is the time between two refusals that follow these.
	refusalInterval = 10 * time.Millisecond
	// longestRefusal bounds the pause of one refusal: a client whose token has expired notices it soon in any case.
	longestRefusal = time.Second
	// maxPaused bounds how many refusals are paused at once. Each has a goroutine. Further ones don't wait.
	maxPaused = 1000
)

// refusals spaces the refusals of requests without valid credentials, which everybody can send. A client that waits for
// its answer sends no further request in the meantime, so that the processors are left to others. It is safe for
// concurrent use.
type refusals struct {
	mu     sync.Mutex // guards the fields below
	next   time.Time  // when the next refusal is due; up to refusalsAtOnce intervals ago
	paused int
}

// pause waits until a refusal is due, or ctx ends. It reports whether there are so many refusals that this one isn't
// due at once.
func (s *refusals) pause(ctx context.Context) (many bool) {
	wait, many := s.begin(time.Now())
	if wait <= 0 {
		return many
	}
	defer s.end()
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
	return many
}

// begin returns how long a refusal waits, and whether it isn't due yet. It counts as paused if it waits.
func (s *refusals) begin(now time.Time) (wait time.Duration, many bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if earliest := now.Add(-refusalsAtOnce * refusalInterval); s.next.Before(earliest) {
		s.next = earliest
	}
	wait = s.next.Add(refusalInterval).Sub(now)
	if wait <= longestRefusal {
		s.next = s.next.Add(refusalInterval)
	}
	if wait <= 0 || s.paused == maxPaused {
		return 0, wait > 0
	}
	s.paused++
	return min(wait, longestRefusal), true
}

func (s *refusals) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.paused--
}
