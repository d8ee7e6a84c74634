package encoder

import (
	"io"
	"iter"
	"sync"
	"time"

	"apigen.dev/runtime/internal/deflate"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
)

// Frames is a pool of Frames of one size. Several goroutines may use it.
type Frames struct{ pool sync.Pool }

// NewFrames returns a pool of Frames that hold size bytes.
func NewFrames(size int) *Frames {
	return &Frames{sync.Pool{New: func() any { return &Frame{buf: make([]byte, 0, size)} }}}
}

// Get returns a Frame that writes to out. The caller gives it back with Put.
func (p *Frames) Get(out io.Writer) *Frame {
	f := p.pool.Get().(*Frame)
	f.out = out
	return f
}

// Put takes a Frame back. Put drops the bytes that the caller didn't flush.
func (p *Frames) Put(f *Frame) {
	f.out, f.err, f.buf, f.sent = nil, nil, f.buf[:0], 0
	p.pool.Put(f)
}

// Frame is a buffer that collects what encoders write, so that the writer behind it gets large pieces. After an error
// of that writer a Frame drops everything. One goroutine uses a Frame at a time.
type Frame struct {
	out  io.Writer
	buf  []byte
	sent int // the bytes that left buf
	err  error
}

// BlockWriter is a writer that also takes bytes that were compressed before, such as the body of a compressed answer.
// Pages are written to it by their parts, and to every other writer by their items.
type BlockWriter interface {
	io.Writer
	WriteBlock(*deflate.Block) error
}

// blocks returns the writer behind the Frame, if a page has parts for it, and else nil.
func (f *Frame) blocks(page *verb.Page) BlockWriter {
	w, ok := f.out.(BlockWriter)
	if !ok || page.Parts == nil {
		return nil
	}
	return w
}

// Flush writes the bytes that the Frame holds.
func (f *Frame) Flush() {
	if len(f.buf) > 0 {
		f.send(f.buf)
		f.buf = f.buf[:0]
	}
}

// Size returns how many bytes were written to the Frame since Get, but for those of parts.
func (f *Frame) Size() int { return f.sent + len(f.buf) }

// Err returns the first error of the writer.
func (f *Frame) Err() error { return f.err }

// Fail makes the Frame drop everything from now on. A Frame keeps the first error.
func (f *Frame) Fail(err error) {
	if f.err == nil {
		f.err = err
	}
}

// bytes fills frames completely: HTTP/2 then has full frames only, and gathers them on their way to the connection.
func (f *Frame) bytes(b []byte) {
	if room := cap(f.buf) - len(f.buf); len(b) > room {
		f.buf = append(f.buf, b[:room]...)
		f.Flush()
		if b = b[room:]; len(b) > cap(f.buf) {
			f.send(b)
			return
		}
	}
	f.buf = append(f.buf, b...)
}

func (f *Frame) text(s string) {
	for len(s) > cap(f.buf)-len(f.buf) {
		n := cap(f.buf) - len(f.buf)
		f.buf = append(f.buf, s[:n]...)
		s = s[n:]
		f.Flush()
	}
	f.buf = append(f.buf, s...)
}

// reserve makes room for n bytes, which the caller appends to f.buf directly. n is small.
func (f *Frame) reserve(n int) {
	if n > cap(f.buf)-len(f.buf) {
		f.Flush()
	}
}

func (f *Frame) send(b []byte) {
	f.sent += len(b)
	if f.err == nil {
		_, f.err = f.out.Write(b)
	}
}

// parts writes the parts of a page to w, which is behind the Frame, with the separator of its encoding between them.
func (f *Frame) parts(w BlockWriter, parts iter.Seq[verb.Part], encoding verb.Encoding) {
	separator := ""
	for part := range parts {
		if f.err != nil {
			return
		}
		f.text(separator)
		separator = rendition.Separator(encoding)
		if part.Compressed == nil {
			f.bytes(part.Plain)
			continue
		}
		f.Flush()
		if f.err == nil {
			f.err = w.WriteBlock(part.Compressed)
		}
	}
}

// untilError returns items up to the first error of the writer: the client may close the connection early.
func (f *Frame) untilError(items iter.Seq[verb.Rendition]) iter.Seq[verb.Rendition] {
	return func(yield func(verb.Rendition) bool) {
		for item := range items {
			if f.err != nil || !yield(item) {
				return
			}
		}
	}
}

// rendition writes an object in JSON; head reports whether with its kind and apiVersion.
func (f *Frame) rendition(r *verb.Rendition, head bool, now time.Time) {
	f.text("{")
	if head {
		f.text(r.Head)
	}
	at := uint32(0)
	for i := range r.Holes {
		hole := &r.Holes[i]
		f.bytes(r.Payload[at:hole.At])
		f.age(hole.Since, now)
		at = hole.At
	}
	f.bytes(r.Payload[at:])
}

func (f *Frame) age(since, now time.Time) {
	f.reserve(rendition.MaxAge)
	f.buf = rendition.AppendAge(f.buf, since, now)
}
