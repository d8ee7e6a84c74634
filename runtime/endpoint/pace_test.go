package endpoint

import (
	"testing"
	"time"
)

// TestPace: pieces of a burst are held together, and nothing else is.
func TestPace(t *testing.T) {
	const near, far = burstPause, 3 * burstPause
	type step struct {
		gap    time.Duration
		events int
		waits  bool
	}
	for name, steps := range map[string][]step{
		"alone":              {{far, 1, false}, {far, 1, false}},
		"a burst":            {{far, 1, false}, {near, 1, true}, {near, 2, true}, {near, 3, true}},
		"waiting is useless": {{far, 1, false}, {near, 1, true}, {near, 1, false}, {near, 1, true}},
		"falling behind":     {{far, 1, false}, {near, fewEvents + 1, false}, {near, fewEvents, true}},
		"a burst ends":       {{far, 1, false}, {near, 2, true}, {far, 2, false}, {near, 1, true}},
	} {
		var p pace
		now := time.Unix(1, 0)
		for i, s := range steps {
			now = now.Add(s.gap)
			if waits := p.after(now, s.events) > 0; waits != s.waits {
				t.Errorf("%s: step %d waits: %t", name, i, waits)
			}
		}
	}
}
