package server

import (
	"net"
	"sync"
	"time"
)

const (
	// gatherSize is how many bytes are written at once: a segment of the largest size that TCP has. The network's card or
	// the other end of a loopback gets them as one; with a little more there would be a second, tiny one each time.
	gatherSize = 1<<16 - 53
	// gatherTime is how long anything is held, and at most twice that.
	gatherTime = time.Millisecond

	recordHeader    = 5       // of TLS
	recordData      = 23      // the type of a record that holds data
	recordSize      = 1 << 14 // the most that a record holds
	http2HeaderSize = 9
)

// gathering is a listener whose connections gather what TLS writes. TLS hands over each record by itself, and a frame of
// HTTP/2 at its usual limit is a full record and a tiny one with the 9 bytes that are left. A large answer would be two
// system calls for each 16 KiB, each of which may wake the client; so it is one for a segment of 64 KiB.
//
// A full record is followed by another one nearly always: it is held, and with it the rest of a full frame. Segments are
// cut where they are full, within records, too. Whatever else is written goes out at once, behind what was held; so does
// what nothing follows, after a millisecond or two.
type gathering struct{ net.Listener }

func (l gathering) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &gatherer{Conn: conn}, nil
}

// gatherer is a connection below TLS. Errors of what was held are told by the next Write.
type gatherer struct {
	net.Conn

	mu   sync.Mutex // guards what follows; held while the connection is written to, so Close doesn't take it
	held *[]byte    // nil: nothing is held, and no buffer
	full int        // length of the last full record
	err  error
	// timer goes off as long as it finds something new held: setting it for every write would cost more.
	timer *time.Timer
	timed bool // it will go off
	aged  bool // what is held was there when it last did
}

var gatherBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, gatherSize+2*recordSize) // a record may come when the segment is nearly full
	return &b
}}

func (g *gatherer) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	more := g.goesOn(b)
	if g.held == nil && !more {
		return g.Conn.Write(b)
	}
	if g.held == nil {
		g.held = gatherBuffers.Get().(*[]byte)
		g.setTimer()
	}
	*g.held = append(*g.held, b...)
	switch n := len(*g.held); {
	case !more:
		g.flush(n)
	case n >= gatherSize:
		g.flush(gatherSize)
	}
	if g.err != nil {
		return 0, g.err
	}
	return len(b), nil
}

// goesOn tells a record that others will follow, and the rest of a frame.
func (g *gatherer) goesOn(b []byte) bool {
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
		g.timer = time.AfterFunc(gatherTime, g.look)
	case !g.timed:
		g.timer.Reset(gatherTime)
	}
	g.timed = true
}

// look is what the timer does.
func (g *gatherer) look() {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.held == nil:
		g.timed = false
		return
	case g.aged:
		g.flush(len(*g.held))
	}
	g.aged = true
	g.timer.Reset(gatherTime)
}

// flush writes n bytes of what is held; the buffer is given back when nothing is left. It sets err.
func (g *gatherer) flush(n int) {
	_, g.err = g.Conn.Write((*g.held)[:n])
	g.aged = false
	*g.held = (*g.held)[:copy(*g.held, (*g.held)[n:])]
	if len(*g.held) == 0 || g.err != nil {
		*g.held = (*g.held)[:0]
		gatherBuffers.Put(g.held)
		g.held = nil
	}
}
