// Package gather writes the records of TLS to connections in few system calls: those of large answers in large
// segments, and the header of a small answer with its body.
//
// It imports nothing of ours.
package gather

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// gatherSize is the size of a write: the largest segment of TCP. The network card, or the other end of a loopback
	// connection, gets it as one segment. A larger write would have a second, tiny segment each time.
	gatherSize = 1<<16 - 53
	// gatherTime is how long full records are held, and headerTime the header of an answer whose body comes at once.
	// They may be held for up to twice that time.
	gatherTime = time.Millisecond
	headerTime = 10 * time.Millisecond

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
//
// It also holds the header of an answer whose body was announced, since HTTP/2 writes both by themselves: a small
// answer costs one system call, and wakes the client once.
type Listener struct{ net.Listener }

// Accept implements net.Listener.
func (l Listener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &Conn{Conn: conn}, nil
}

// Conn is a connection below TLS. If writing held bytes fails, the next Write returns the error.
type Conn struct {
	net.Conn

	// announced is the size of a body that was announced, and whose header was not yet written; else 0.
	announced atomic.Int64

	mu   sync.Mutex // guards the fields below; held during writes to the connection, so Close doesn't lock it
	held *[]byte    // nil if no bytes are held
	full int        // length of the last full record
	err  error
	// records and headers end the time of full records, and of headers.
	records, headers holdTimer

	deadlines deadlines // they have a mutex of their own
}

// holdTimer ends the time for which bytes are held. Its timer fires again as long as it finds new bytes: setting it for
// every write would cost more.
type holdTimer struct {
	timer *time.Timer
	timed bool // the timer will fire
	aged  bool // the held bytes were there when it last fired
}

// Below returns the Conn below a TLS connection; nil if Listener did not make it.
func Below(c net.Conn) *Conn {
	secure, ok := c.(*tls.Conn)
	if !ok {
		return nil
	}
	below, _ := secure.NetConn().(*Conn)
	return below
}

// Announce says that the header of an answer follows, and at once a body of a size in bytes. A nil Conn
// ignores it.
func (g *Conn) Announce(size int) {
	if g != nil {
		g.announced.Store(int64(size))
	}
}

var gatherBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, gatherSize+2*recordSize) // a record may follow when the segment is nearly full
	return &b
}}

func (g *Conn) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	more, header, first := g.expectsMore(b), g.isHeader(b), g.held == nil
	if first && !more && !header {
		return g.write(b, false)
	}
	if first {
		g.held = gatherBuffers.Get().(*[]byte)
	}
	switch {
	case more && (first || !g.records.timed):
		g.hold(&g.records, gatherTime)
	case header && first:
		g.hold(&g.headers, headerTime)
	}
	*g.held = append(*g.held, b...)
	g.deadlines.hold()
	switch n := len(*g.held); {
	case !more && !header:
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
func (g *Conn) expectsMore(b []byte) bool {
	if len(b) >= recordHeader && b[0] == recordData && int(b[3])<<8|int(b[4]) >= recordSize {
		g.full = len(b)
		return true
	}
	return g.held != nil && g.full-len(b) == recordSize-http2HeaderSize
}

// isHeader reports whether b is the first record since a body was announced, and too small to have that body.
func (g *Conn) isHeader(b []byte) bool {
	size := g.announced.Load()
	if size == 0 {
		return false
	}
	g.announced.Store(0)
	return int64(len(b)) < size && b[0] == recordData
}

// hold has p end the time of the bytes that are held from now on.
func (g *Conn) hold(p *holdTimer, most time.Duration) {
	p.aged = false
	switch {
	case p.timer == nil:
		p.timer = time.AfterFunc(most, func() { g.fire(p, most) })
	case !p.timed:
		p.timer.Reset(most)
	}
	p.timed = true
}

func (g *Conn) fire(p *holdTimer, most time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.held == nil:
		p.timed = false
		return
	case p.aged:
		g.flush(len(*g.held), true)
	}
	p.aged = true
	p.timer.Reset(most)
}

// flush writes n of the held bytes, and gives the buffer back if none are left. It sets err. late reports whether the
// Write that brought the bytes has returned.
func (g *Conn) flush(n int, late bool) {
	_, g.err = g.write((*g.held)[:n], late)
	g.records.aged, g.headers.aged = false, false
	*g.held = (*g.held)[:copy(*g.held, (*g.held)[n:])]
	if len(*g.held) == 0 || g.err != nil {
		*g.held = (*g.held)[:0]
		gatherBuffers.Put(g.held)
		g.held = nil
	}
}
