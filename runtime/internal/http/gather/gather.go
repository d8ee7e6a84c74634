// Package gather writes the records of TLS to connections in large segments.
//
// It imports nothing of ours.
package gather

import (
	"net"
	"sync"
	"time"
)

const (
	// gatherSize is the size of a write: the largest segment of TCP. The network card, or the other end of a loopback
	// connection, gets it as one segment. A larger write would have a second, tiny segment each time.
	gatherSize = 1<<16 - 53
	// gatherTime is how long bytes are held. They may be held for up to twice that time.
	gatherTime = time.Millisecond

	recordHeader    = 5       // of TLS
	recordData      = 23      // the type of a record with data
	recordSize      = 1 << 14 // the largest size of a record
	http2HeaderSize = 9
)

// Listener is a listener whose connections gather the records that TLS writes. TLS writes each record by itself, and a
// full frame of HTTP/2 is a full record and a tiny one with the remaining 9 bytes. So a large answer would cost two
// system calls for each 16 KiB, each of which may wake the client. With Listener it costs one for a segment of 64 KiB.
//
// A connection holds a full record, after which another one usually follows, and the rest of a full frame. It writes a
// segment as soon as it is full, even within a record. It writes every other record at once, after the bytes that it
// holds. If no record follows, it writes the bytes that it holds after one or two milliseconds.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatherer{Conn: conn}, nil
}

// gatherer is a connection below TLS. If writing held bytes fails, the next Write returns the error.
type gatherer struct {
	net.Conn

	mu   sync.Mutex // guards the fields below; held during writes to the connection, so Close doesn't lock it
	held *[]byte    // nil if no bytes are held
	full int        // length of the last full record
	err  error
	// timer fires again as long as it finds new bytes. Setting it for every write would cost more.
	timer *time.Timer
	timed bool // the timer will fire
	aged  bool // the held bytes were there when it last fired

	deadlines deadlines // they have a mutex of their own
}

var gatherBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, gatherSize+2*recordSize) // a record may follow when the segment is nearly full
	return &b
}}

func (g *gatherer) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	more := g.expectsMore(b)
	if g.held == nil && !more {
		return g.write(b, false)
	}
	if g.held == nil {
		g.held = gatherBuffers.Get().(*[]byte)
		g.setTimer()
	}
	*g.held = append(*g.held, b...)
	g.deadlines.hold()
	switch n := len(*g.held); {
	case !more:
		g.flush(n, false)
	case n >= gatherSize:
		g.flush(gatherSize, false)
	}
	if g.err != nil {
		return 0, g.err
	}
	return len(b), nil
}

// expectsMore reports whether b is a record after which others will follow, or the rest of a frame.
func (g *gatherer) expectsMore(b []byte) bool {
	if len(b) >= recordHeader && b[0] == recordData && int(b[3])<<8|int(b[4]) >= recordSize {
		g.full = len(b)
		return true
	}
	return g.held != nil && g.full-len(b) == recordSize-http2HeaderSize
}

func (g *gatherer) setTimer() {
	g.aged = false
	switch {
	case g.timer == nil:
		g.timer = time.AfterFunc(gatherTime, g.fire)
	case !g.timed:
		g.timer.Reset(gatherTime)
	}
	g.timed = true
}

func (g *gatherer) fire() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.held == nil:
		g.timed = false
		return
	case g.aged:
		g.flush(len(*g.held), true)
	}
	g.aged = true
	g.timer.Reset(gatherTime)
}

// flush writes n of the held bytes, and gives the buffer back if none are left. It sets err. late reports whether the
// Write that brought the bytes has returned.
func (g *gatherer) flush(n int, late bool) {
	_, g.err = g.write((*g.held)[:n], late)
	g.aged = false
	*g.held = (*g.held)[:copy(*g.held, (*g.held)[n:])]
	if len(*g.held) == 0 || g.err != nil {
		*g.held = (*g.held)[:0]
		gatherBuffers.Put(g.held)
		g.held = nil
	}
}
