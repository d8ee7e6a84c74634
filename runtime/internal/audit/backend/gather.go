package backend

import (
	"context"
	"io"
	"runtime"
	"sync"
	"time"
)

// Gathered is a Target for the mode Blocking that writes the events of concurrent requests to a file together: those
// that come while it writes are the next piece. An event that a request needn't wait for, since another one of the
// same request follows, is written with whatever is written next, within soon.
type Gathered struct {
	Format
	out io.Writer

	mu    sync.Mutex // guards the fields below
	next  *piece     // what is written next; nil for nothing
	spare [][]byte   // the memory of pieces that were written; one is written while the next one grows
	timer *time.Timer
	armed bool // the timer will write what nobody waits for

	writing sync.Mutex // is held while a piece is written
}

// NewGathered returns a Gathered that writes events in a format to out, one piece at a time.
func NewGathered(format Format, out io.Writer) *Gathered { return &Gathered{Format: format, out: out} }

const (
	// soon is how long an event stays in memory that no request waits for. Most requests end before it has passed; a
	// timer for each of them would wake a processor.
	soon = 10 * time.Millisecond
	// maxPiece bounds the events that are written together. A larger event is a piece of its own.
	maxPiece = 64 << 10
)

// piece is a part of the log that is written at once.
type piece struct {
	data []byte
	// alone counts the events that no request waits for, and lost is told why they were lost.
	alone int
	lost  func(events int, err error)

	// written and err are guarded by Gathered.writing.
	written bool
	err     error
}

// Deliver implements Target. It returns when the events are written.
func (g *Gathered) Deliver(_ context.Context, events [][]byte) error {
	for _, event := range events {
		p := g.add(event, nil)
		runtime.Gosched() // requests that are about to end come first, and are written together
		if err := g.finish(p); err != nil {
			return err
		}
	}
	return nil
}

// deliverSoon returns at once. It tells lost if the event can't be written.
func (g *Gathered) deliverSoon(event []byte, lost func(events int, err error)) {
	g.add(event, lost)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.armed:
		return
	case g.timer == nil:
		g.timer = time.AfterFunc(soon, g.flush)
	default:
		g.timer.Reset(soon)
	}
	g.armed = true
}

// flush writes what there is.
func (g *Gathered) flush() {
	g.mu.Lock()
	p := g.next
	g.armed = false
	g.mu.Unlock()
	if p != nil {
		_ = g.finish(p) // those whose events it holds are told
	}
}

// add appends an event to the piece that is written next, and returns that.
func (g *Gathered) add(event []byte, lost func(events int, err error)) *piece {
	for {
		g.mu.Lock()
		if g.next == nil {
			g.next = &piece{}
			if last := len(g.spare) - 1; last >= 0 {
				g.next.data, g.spare = g.spare[last][:0], g.spare[:last]
			}
		}
		p := g.next
		if len(p.data) == 0 || len(p.data)+len(event) <= maxPiece {
			p.data = append(p.data, event...)
			if lost != nil {
				p.alone, p.lost = p.alone+1, lost
			}
			g.mu.Unlock()
			return p
		}
		g.mu.Unlock()
		_ = g.finish(p) // those whose events it holds are told
	}
}

// finish writes a piece, unless another goroutine did, and returns the error of that. Only the next piece is unwritten.
func (g *Gathered) finish(p *piece) error {
	g.writing.Lock()
	defer g.writing.Unlock()
	if p.written {
		return p.err
	}
	g.mu.Lock()
	g.next = nil
	g.mu.Unlock()
	_, p.err = g.out.Write(p.data)
	if p.written = true; p.err != nil && p.alone > 0 {
		p.lost(p.alone, p.err)
	}
	g.mu.Lock()
	if cap(p.data) <= maxPiece && len(g.spare) < 2 {
		g.spare = append(g.spare, p.data)
	}
	g.mu.Unlock()
	p.data = nil
	return p.err
}
