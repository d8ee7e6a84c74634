package flow

import "sync"

// maxRetryAfter is the longest time after which clients are told to come again, in seconds.
const maxRetryAfter = 32

// drops counts the rejected requests of a level, and says after how many seconds their clients should come again. That
// time doubles while at least three requests a second are rejected during it, and falls by a second where less than one
// is. The zero value is ready.
type drops struct {
	mu      sync.Mutex
	seconds [maxRetryAfter + 1]struct{ at, dropped int64 }
	last    int64 // the latest second with a rejected request
	raised  int64 // when after was raised
	after   int64 // 0 is 1
}

// add counts a request that is rejected in a second of Unix time.
func (d *drops) add(now int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if now != d.last {
		d.last = now
		d.adjust(now)
	}
	s := &d.seconds[now%int64(len(d.seconds))]
	if s.at != now {
		s.at, s.dropped = now, 0
	}
	s.dropped++
}

// adjust changes the time at the beginning of a second.
func (d *drops) adjust(now int64) {
	after, dropped := max(d.after, 1), int64(0)
	for _, s := range d.seconds {
		if s.at < now && now-s.at <= after {
			dropped += s.dropped
		}
	}
	switch {
	case now-d.raised >= after && dropped >= 3*after:
		d.after, d.raised = min(2*after, maxRetryAfter), now
	case dropped < after && after > 1:
		d.after = after - 1
	}
}

func (d *drops) retryAfter() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return int(max(d.after, 1))
}
