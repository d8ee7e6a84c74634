// Package logging writes the log of a server's process, as text or as JSON. Records below Info, of which a busy server
// has one for each request, are written together; a record from Info on is written at once, behind those before it.
//
// It imports nothing of ours.
package logging

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"
)

// The formats of a log.
const (
	Text = "text"
	JSON = "json"
)

const (
	// soon is how long a record below Info stays in memory.
	soon = 10 * time.Millisecond
	// maxHeld bounds the records in memory, in bytes, unless one is larger.
	maxHeld = 32 << 10
)

// New returns a handler that writes records from a level on to out, one or more of them at a time, and a function that
// writes those that it still holds, before the process ends. Several goroutines may use both.
func New(format string, out io.Writer, level slog.Leveler) (slog.Handler, func()) {
	held := &lines{out: out}
	options := &slog.HandlerOptions{Level: level}
	if format == JSON {
		return gathered{Handler: slog.NewJSONHandler(held, options), held: held}, held.flush
	}
	return gathered{Handler: slog.NewTextHandler(held, options), held: held, text: true}, held.flush
}

// gathered is a handler whose lines are held.
type gathered struct {
	slog.Handler
	held *lines
	// text reports whether appendLine may write the records in Handler's place.
	text bool
}

// KeepsNoRecord says to those who make records that Handle keeps nothing of them.
func (g gathered) KeepsNoRecord() {}

// Handle implements slog.Handler.
func (g gathered) Handle(ctx context.Context, r slog.Record) error {
	err := g.line(ctx, r)
	if r.Level >= slog.LevelInfo {
		g.held.flush()
	}
	return err
}

// line has the record written to held.
func (g gathered) line(ctx context.Context, r slog.Record) error {
	if !g.text {
		return g.Handler.Handle(ctx, r)
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	line, simple := appendLine((*buffer)[:0], r)
	*buffer = line
	if !simple {
		return g.Handler.Handle(ctx, r)
	}
	_, err := g.held.Write(line)
	return err
}

// buffers are for lines.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// WithAttrs implements slog.Handler.
func (g gathered) WithAttrs(attributes []slog.Attr) slog.Handler {
	return gathered{Handler: g.Handler.WithAttrs(attributes), held: g.held}
}

// WithGroup implements slog.Handler.
func (g gathered) WithGroup(name string) slog.Handler {
	return gathered{Handler: g.Handler.WithGroup(name), held: g.held}
}

// lines holds what is written to it.
type lines struct {
	out io.Writer

	mu    sync.Mutex // guards the fields below, and is held while out is written to, which keeps the order
	held  []byte
	timer *time.Timer
	armed bool // the timer will flush
}

// Write implements io.Writer. It never fails: nobody could be told.
func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.held)+len(line) > maxHeld {
		l.write()
	}
	l.held = append(l.held, line...)
	l.flushSoon()
	return len(line), nil
}

func (l *lines) write() {
	if len(l.held) > 0 {
		_, _ = l.out.Write(l.held)
	}
	if l.held = l.held[:0]; cap(l.held) > 2*maxHeld {
		l.held = nil
	}
}

func (l *lines) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.write()
}

// flushSoon has the timer flush what is held. The caller holds mu.
func (l *lines) flushSoon() {
	switch {
	case l.armed:
		return
	case l.timer == nil:
		l.timer = time.AfterFunc(soon, l.fired)
	default:
		l.timer.Reset(soon)
	}
	l.armed = true
}

// fired is called by the timer.
func (l *lines) fired() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.armed = false
	l.write()
}
