package server

import (
	"net"
	"sync"
	"time"
)

const (
	// gatherSize is from how many bytes on what was gathered is written.
	gatherSize = 64 << 10
	// gatherTime is how long anything is held at most.
	gatherTime = time.Millisecond

	recordHeader    = 5       // of TLS
	recordData      = 23      // the type of a record that holds data
	recordSize      = 1 << 14 // the most that a record holds
	http2HeaderSize = 9
)

// gathering is a listener whose connections gather what TLS writes. TLS hands over each record by itself, and a frame of
// HTTP/2 at its usual limit is a full record and a tiny one with the 9 bytes that are left. A large answer would be two
// system calls for each 16 KiB, each of which may wake the client; so it is one for 64 KiB.
//
// A full record is followed by another one nearly always: it is held, and with it the rest of a full frame. Whatever
// else is written goes out at once, behind what was held; so does what nothing follows, after a millisecond.
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

	mu    sync.Mutex // guards what follows; held while the connection is written to, so Close doesn't take it
	held  *[]byte    // nil: nothing is held, and no buffer
	full  int        // length of the last full record
	timer *time.Timer
	err   error
}

var gatherBuffers = sync.Pool{New: func() any {
	b := make([]byte, 0, gatherSize+2*recordSize)
	return &b
}}

func (g *gatherer) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return 0, g.err
	}
	more := g.goesOn(b)
	if g.held == nil {
		if !more {
			return g.Conn.Write(b)
		}
		g.held = gatherBuffers.Get().(*[]byte)
		g.setTimer()
	}
	*g.held = append(*g.held, b...)
	if more && len(*g.held) < gatherSize {
		return len(b), nil
	}
	g.timer.Stop()
	if err := g.flush(); err != nil {
		return 0, err
	}
	return len(b), nil
}

// goesOn tells a record that others will follow.
func (g *gatherer) goesOn(b []byte) bool {
	if len(b) >= recordHeader && b[0] == recordData && int(b[3])<<8|int(b[4]) >= recordSize {
		g.full = len(b)
		return true
	}
	return g.held != nil && g.full-len(b) == recordSize-http2HeaderSize
}

func (g *gatherer) setTimer() {
	if g.timer != nil {
		g.timer.Reset(gatherTime)
		return
	}
	g.timer = time.AfterFunc(gatherTime, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.held != nil {
			_ = g.flush() // the next Write tells it
		}
	})
}

// flush writes what is held, and gives the buffer back.
func (g *gatherer) flush() error {
	_, g.err = g.Conn.Write(*g.held)
	*g.held = (*g.held)[:0]
	gatherBuffers.Put(g.held)
	g.held = nil
	return g.err
}
