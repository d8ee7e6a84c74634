package endpoint

import "time"

const (
	// burstPause is how long a stream waits for more before it writes the next piece, while events follow closely upon
	// each other. It is the longest that an event of a burst is held back; one that comes alone never is.
	burstPause = 6 * time.Millisecond
	// fewEvents is how many a piece may hold for the stream to wait: more would let it fall behind, and are worth a piece.
	fewEvents = 32
	// soonest and latest are how many pieces in a row must come within two pauses of one another before the stream waits:
	// soonest at first, twice as many each time that it waited for nothing. So somebody who writes, awaits the event and
	// writes again is held up once in many times.
	soonest, latest = 2, 64
)

// pace makes a stream write the events of a burst in fewer pieces: each costs a record of TLS, a frame and a share of a
// system call, several times what the event does. The zero value is ready.
type pace struct {
	last   time.Time
	near   int // pieces in a row that came soon after the one before
	need   int // how many of them it takes
	paused bool
}

// after is told when a piece was written, and of how many events, and returns how long to wait before the next one.
func (p *pace) after(now time.Time, events int) time.Duration {
	switch {
	case p.need == 0, p.paused && events > 1:
		p.need = soonest
	case p.paused:
		p.need, p.near = min(2*p.need, latest), 0
	}
	if now.Sub(p.last) < 2*burstPause {
		p.near++
	} else {
		p.near = 0
	}
	p.last = now
	p.paused = p.near > p.need && events <= fewEvents
	if p.paused {
		return burstPause
	}
	return 0
}
