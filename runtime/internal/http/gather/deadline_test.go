package gather

import (
	"errors"
	"net"
	"os"
	"slices"
	"testing"
	"time"
)

// timed is a connection that takes every byte, and notes the deadlines that it is given, and those of its writes.
type timed struct {
	net.Conn
	set    int
	now    time.Time
	writes []time.Time
}

func (c *timed) SetWriteDeadline(t time.Time) error {
	c.set, c.now = c.set+1, t
	return nil
}

func (c *timed) SetReadDeadline(time.Time) error { return nil }

func (c *timed) Write(b []byte) (int, error) {
	c.writes = append(c.writes, c.now)
	return len(b), nil
}

// TestDeadlinesOfWrites gives each write the deadline that was set for it, up to a second earlier, and moves that of
// the connection only if it must.
func TestDeadlinesOfWrites(t *testing.T) {
	at := time.Now()
	record := append([]byte{recordData, 3, 3, recordSize >> 8, 0}, make([]byte, recordSize)...) // a full one is held
	never := time.Time{}
	cases := map[string]struct {
		do     func(g *Conn)
		writes []time.Time
		set    int
	}{
		"none": {func(g *Conn) { put(g, "a") }, []time.Time{never}, 0},
		"for each write, as net/http does": {func(g *Conn) {
			for i := range 9 {
				_ = g.SetWriteDeadline(at.Add(time.Duration(i) * time.Second / 10))
				put(g, "a")
				_ = g.SetWriteDeadline(never)
			}
		}, slices.Repeat([]time.Time{at}, 9), 1},
		"a second later": {func(g *Conn) {
			_ = g.SetWriteDeadline(at)
			put(g, "a")
			_ = g.SetWriteDeadline(at.Add(time.Second))
			put(g, "a")
		}, []time.Time{at, at.Add(time.Second)}, 2},
		"earlier": {func(g *Conn) {
			_ = g.SetWriteDeadline(at)
			_ = g.SetWriteDeadline(at.Add(-1))
			put(g, "a")
		}, []time.Time{at.Add(-1)}, 2},
		"removed": {func(g *Conn) {
			_ = g.SetWriteDeadline(at)
			put(g, "a")
			_ = g.SetWriteDeadline(never)
			put(g, "a")
		}, []time.Time{at, never}, 2},
		"of both directions": {func(g *Conn) {
			_ = g.SetDeadline(at)
			put(g, "a")
		}, []time.Time{at}, 1},
		"held bytes, late": {func(g *Conn) {
			_ = g.SetWriteDeadline(at)
			put(g, string(record))
			_ = g.SetWriteDeadline(never)
			flushLate(g)
		}, []time.Time{at}, 1},
		"held bytes, late, after another write": {func(g *Conn) {
			_ = g.SetWriteDeadline(never)
			put(g, "a")
			_ = g.SetWriteDeadline(at.Add(time.Hour))
			put(g, string(record))
			_ = g.SetWriteDeadline(never)
			flushLate(g)
		}, []time.Time{never, at.Add(time.Hour)}, 1},
		"held bytes of a write without one": {func(g *Conn) { // of an upgraded connection
			_ = g.SetWriteDeadline(at)
			put(g, "a")
			_ = g.SetWriteDeadline(never)
			put(g, string(record))
			flushLate(g)
		}, []time.Time{at, never}, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			below := &timed{}
			c.do(&Conn{Conn: below})
			if !slices.Equal(below.writes, c.writes) || below.set != c.set {
				t.Errorf("writes with the deadlines %v, set %d times; want %v, %d",
					below.writes, below.set, c.writes, c.set)
			}
		})
	}
}

func put(g *Conn, text string) { _, _ = g.Write([]byte(text)) }

// flushLate writes what is held as the timer does, unless it has done so.
func flushLate(g *Conn) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.records.timer.Stop()
	if g.held != nil {
		g.flush(len(*g.held), true)
	}
}

// TestStuckWrites has a client that doesn't read: a deadline that passes ends the write that waits for it.
func TestStuckWrites(t *testing.T) {
	below, _ := connected(t)
	in := &Conn{Conn: below}
	_ = in.SetWriteDeadline(time.Now().Add(time.Hour))
	ended := make(chan error, 1)
	go func() {
		_, err := in.Write(make([]byte, 64<<20)) // more than the sockets hold
		ended <- err
	}()
	_ = in.SetWriteDeadline(time.Now().Add(-time.Hour))
	if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write ended with %v", err)
	}
}
