package endpoint

import "time"

// burstPause is how long a stream waits for more before it writes the next piece, while events follow closely upon each
// other. It is the longest that an event of a burst is held back; one that comes alone is never.
const burstPause = 2 * time.Millisecond

// fewEvents is how many a piece of a burst may hold for the stream to wait: more would let it fall behind, and are worth a
// piece.
const fewEvents = 32

// pace makes a stream write the events of a burst in fewer pieces: each costs a record of TLS and a system call, many times
// what the event does. It waits only after pieces that came within two pauses of one another, and no longer than waiting
// brings more than one event. The zero value is ready.
type pace struct {
	last   time.Time
	paused bool
}

// after is told when a piece was written, and of how many events, and returns how long to wait before the next one.
func (p *pace) after(now time.Time, events int) time.Duration {
	burst := now.Sub(p.last) < 2*burstPause
	helped := !p.paused || events > 1
	p.last = now
	p.paused = burst && helped && events <= fewEvents
	if p.paused {
		return burstPause
	}
	return 0
}
