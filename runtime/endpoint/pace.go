package endpoint

import "time"

const (
	// burstPause is how long a stream waits for more events before it writes the next piece, during a burst of events.
	// It delays an event of a burst at most so long, and never an event that comes alone.
	burstPause = 6 * time.Millisecond
	// maxDelayed is the largest piece, in events, after which a stream waits. With larger pieces it would fall behind.
	maxDelayed = 32
	// A stream waits after a number of pieces that follow each other within two pauses: at first minPieces, and twice
	// as many each time that it waited in vain, up to maxPieces. So a client that writes, waits for the event and
	// writes again is seldom delayed.
	minPieces, maxPieces = 2, 64
)

// pace decides when a stream waits, so that it writes the events of a burst in fewer pieces. A piece costs a record of
// TLS, a frame and a part of a system call, several times as much as an event. The zero value is ready.
type pace struct {
	last        time.Time
	consecutive int // how many pieces in a row came soon after the one before
	needed      int // how many of them make the stream wait
	paused      bool
}

// after returns how long a stream waits after it wrote a piece of so many events at now.
func (p *pace) after(now time.Time, events int) time.Duration {
	switch {
	case p.needed == 0, p.paused && events > 1:
		p.needed = minPieces
	case p.paused:
		p.needed, p.consecutive = min(2*p.needed, maxPieces), 0
	}
	if now.Sub(p.last) < 2*burstPause {
		p.consecutive++
	} else {
		p.consecutive = 0
	}
	p.last = now
	p.paused = p.consecutive > p.needed && events <= maxDelayed
	if p.paused {
		return burstPause
	}
	return 0
}
