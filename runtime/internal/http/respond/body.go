package respond

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"apigen.dev/runtime/internal/deflate"
)

// varyEncoding tells caches that an answer depends on the header Accept-Encoding. Nobody changes it.
var varyEncoding = []string{"Accept-Encoding"}

// Body is the body of an answer. It sends the header with the first piece, whose size decides whether Body compresses
// the answer. One goroutine uses a Body.
type Body struct {
	Writer http.ResponseWriter
	Code   int
	// ContentType is the value of the header. Body doesn't change it, so answers may share it.
	ContentType []string
	// WriteTimeout is how long the client may take to read a piece of an answer that has several. An answer of one
	// piece keeps the deadline that the server gives to every answer.
	WriteTimeout time.Duration
	// Gzip reports whether the client accepts gzip.
	Gzip bool
	// Turn is the turn of an answer of several pieces, which waits for it until the end of Context.
	Turn    Turn
	Context context.Context //nolint:containedctx // a Body is a part of one request, and lives as long

	// whole: the first piece is all of the body.
	whole    bool
	cut      bool      // a piece is missing
	out      io.Writer // nil until the first piece
	zip      *deflate.Stream
	deadline WriteDeadline
}

// SetWhole says that the next piece is the last. It does nothing if it isn't the first, too.
func (b *Body) SetWhole() { b.whole = b.out == nil }

// Begun reports whether Body has sent the header.
func (b *Body) Begun() bool { return b.out != nil }

// WriteWhole writes all of the body in one piece. It ignores errors, which mean that the client closed the connection.
func (b *Body) WriteWhole(data []byte) {
	b.SetWhole()
	_, _ = b.Write(data)
}

// Write writes a piece of the body, after the header if it is the first.
func (b *Body) Write(data []byte) (int, error) {
	if err := b.startPiece(len(data)); err != nil {
		return 0, err
	}
	if b.zip != nil {
		return b.zip.Write(data)
	}
	return b.Writer.Write(data)
}

// WriteBlock writes a piece of the body that is compressed, to a client that accepts gzip.
func (b *Body) WriteBlock(block *deflate.Block) error {
	if err := b.startPiece(block.Len()); err != nil {
		return err
	}
	return b.zip.WriteBlock(block)
}

// startPiece sends the header before the first piece, waits for the turn of a piece of several, and gives the client
// its time.
func (b *Body) startPiece(size int) error {
	if b.out == nil {
		b.begin(size)
	}
	if b.whole {
		b.Turn.Pass()
		return nil
	}
	if err := b.Turn.Take(b.Context); err != nil {
		b.cut = true
		return err
	}
	b.deadline.Start(b.Writer, b.WriteTimeout)
	return nil
}

func (b *Body) begin(size int) {
	header := b.Writer.Header()
	header["Content-Type"] = b.ContentType
	if header["Vary"] == nil {
		header["Vary"] = varyEncoding
	} else {
		header.Add("Vary", "Accept-Encoding")
	}
	b.out = b.Writer
	switch {
	case b.Gzip && (!b.whole || size > deflate.Threshold):
		header.Set("Content-Encoding", "gzip")
		b.zip = deflate.NewStream(b.Writer)
		b.out = b.zip
	case b.whole:
		header.Set("Content-Length", strconv.Itoa(size))
		announce(b.Writer, size)
	}
	if !b.whole {
		liftWriteDeadline(b.Writer) // a deadline for each piece follows
	}
	b.Writer.WriteHeader(b.Code)
}

// Close ends the body. The handler calls it before it returns. If the request ended before the turn of a piece came,
// Close aborts the answer: the client must not take a part for the whole.
func (b *Body) Close() {
	defer b.Turn.End()
	if b.cut {
		b.deadline.Stop()
		panic(http.ErrAbortHandler)
	}
	defer b.endDeadline()
	if b.zip != nil {
		_ = b.zip.Close() // an error means that the client closed the connection
	}
}

// endDeadline gives the client of a body in pieces the time of one piece for what the server still holds.
func (b *Body) endDeadline() {
	b.deadline.Stop()
	if b.Begun() && !b.whole {
		endWithin(b.Writer, b.WriteTimeout)
	}
}

// WriteDeadline drops a client that stops reading, by the time that the client has to read one piece. It uses a timer:
// a deadline of the connection would cost HTTP/2 two turns of its loop for each piece. It doesn't set the timer for
// each piece either: the timer looks how long the present piece has when it fires. If the connection can't be closed,
// the server's own limits hold. The zero value is ready.
type WriteDeadline struct {
	mu    sync.Mutex // guards the fields below; held while the client is dropped
	timer *time.Timer
	set   bool      // the timer will fire
	until time.Time // the deadline of the present piece; zero if there is none
	over  bool
}

// Start gives the client timeout to read the next piece, which the caller writes to w.
func (d *WriteDeadline) Start(w http.ResponseWriter, timeout time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = time.Now().Add(timeout)
	switch {
	case d.timer == nil:
		d.timer = time.AfterFunc(timeout, func() { d.fire(w) })
	case !d.set:
		d.timer.Reset(timeout)
	}
	d.set = true
}

// fire drops the client if the present piece is late, and else sets the timer for it.
func (d *WriteDeadline) fire(w http.ResponseWriter) {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := time.Until(d.until)
	switch {
	case d.over || d.until.IsZero():
		d.set = false
	case left > 0:
		d.timer.Reset(left)
	default:
		_ = http.NewResponseController(w).SetWriteDeadline(time.Unix(1, 0))
	}
}

// Pause says that the client has read all pieces. A stream calls it before it waits for events.
func (d *WriteDeadline) Pause() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = time.Time{}
}

// Stop ends the deadline. The handler calls it before it returns, because the server owns w then.
func (d *WriteDeadline) Stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.timer != nil {
		d.timer.Stop()
	}
}
