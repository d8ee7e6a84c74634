package gather

import (
	"errors"
	"sync"
	"time"
)

// deadlineSlack is how much earlier than it was set a deadline of writes may strike.
const deadlineSlack = time.Second

// deadlines are what was set as the deadline of writes, and what the connection has. net/http sets one for each write,
// a minute or more ahead, and clears it behind the write. The connection would move a timer each time.
type deadlines struct {
	mu sync.Mutex
	// wanted was set last, and held is that of the bytes that are held.
	wanted, held time.Time
	// armed is that of the connection.
	armed time.Time
}

// SetDeadline implements net.Conn.
func (g *Conn) SetDeadline(t time.Time) error {
	return errors.Join(g.SetReadDeadline(t), g.SetWriteDeadline(t))
}

// SetWriteDeadline implements net.Conn. A deadline strikes up to deadlineSlack early. Removing one has its effect at
// the next Write.
func (g *Conn) SetWriteDeadline(t time.Time) error {
	d := &g.deadlines
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wanted = t
	if t.IsZero() {
		return nil
	}
	return g.arm(t)
}

// hold notes that bytes are held, which have the deadline of now.
func (d *deadlines) hold() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.held = d.wanted
}

// arm gives the connection a deadline, unless it has one that is as good. The caller holds deadlines.mu.
func (g *Conn) arm(t time.Time) error {
	d := &g.deadlines
	if early := t.Sub(d.armed); t.IsZero() == d.armed.IsZero() && early >= 0 && early < deadlineSlack {
		return nil
	}
	d.armed = t
	return g.Conn.SetWriteDeadline(t)
}

// write writes to the connection. Bytes that are late have the deadline of the Write that brought them.
func (g *Conn) write(b []byte, late bool) (int, error) {
	if err := g.prepare(late); err != nil {
		return 0, err
	}
	return g.Conn.Write(b)
}

func (g *Conn) prepare(late bool) error {
	d := &g.deadlines
	d.mu.Lock()
	defer d.mu.Unlock()
	if late && d.wanted.IsZero() {
		return g.arm(d.held)
	}
	return g.arm(d.wanted)
}
