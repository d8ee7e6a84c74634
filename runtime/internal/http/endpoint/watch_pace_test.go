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
	burst := []step{{far, 1, false}, {near, 1, false}, {near, 1, false}, {near, 1, true}}
	for name, more := range map[string][]step{
		"it goes on":     {{near, 2, true}, {near, 3, true}},
		"falling behind": {{near, maxDelayed + 1, false}, {near, maxDelayed, true}},
		"it ends":        {{far, 2, false}, {near, 1, false}},
		"in vain":        {{near, 1, false}, {near, 1, false}, {near, 1, false}, {near, 1, false}, {near, 1, true}},
	} {
		var p pace
		now := time.Unix(1, 0)
		for i, s := range append(append([]step(nil), burst...), more...) {
			now = now.Add(s.gap)
			if waits := p.after(now, s.events) > 0; waits != s.waits {
				t.Errorf("%s: step %d waits: %t", name, i, waits)
			}
		}
	}
	var p pace
	now := time.Unix(1, 0)
	for range 10 {
		now = now.Add(far)
		if p.after(now, 1) > 0 {
			t.Error("a stream waits for what comes alone")
		}
	}
}

// TestPaceOfPingPong: who writes only when the last event has come is held up seldom.
func TestPaceOfPingPong(t *testing.T) {
	var p pace
	now, waits := time.Unix(1, 0), 0
	for range 1000 {
		if pause := p.after(now, 1); pause > 0 {
			waits++
			now = now.Add(pause)
		}
		now = now.Add(time.Millisecond)
	}
	if waits > 25 {
		t.Errorf("held up %d times in 1000", waits)
	}
}
