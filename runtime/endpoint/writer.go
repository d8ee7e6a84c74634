package endpoint

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"apigen.dev/runtime/api"
)

// gzipThreshold is beyond which size answers are compressed for clients that accept it: kube-apiserver's.
const gzipThreshold = 128 << 10

// frameSize is how much is written at once: more than gzipThreshold, so that an answer which isn't complete with the first
// frame is beyond it. HTTP/2 cuts it into frames of its own without waking who wrote it for each.
const frameSize = gzipThreshold + 16<<10

// streamFrameSize is that of watches: many may have something to write at one moment, to clients of any speed.
const streamFrameSize = 64 << 10

// defaultWriteTimeout is how long a client may leave a frame unread.
const defaultWriteTimeout = time.Minute

// pools hold what is expensive to make and used for the length of one answer, or of one piece of a stream.
type pools struct {
	frames       sync.Pool // *frame
	streamFrames sync.Pool // *frame
	gzips        sync.Pool // *gzip.Writer
}

func newPools() pools {
	return pools{
		frames:       sync.Pool{New: func() any { return &frame{buf: make([]byte, 0, frameSize)} }},
		streamFrames: sync.Pool{New: func() any { return &frame{buf: make([]byte, 0, streamFrameSize)} }},
		gzips: sync.Pool{New: func() any {
			z, _ := gzip.NewWriterLevel(nil, gzip.BestSpeed) // the level is a valid one
			return z
		}},
	}
}

// frame collects what is written into large pieces. After an error it swallows everything.
type frame struct {
	out io.Writer
	buf []byte
	err error
}

func frameFor(out io.Writer, pool *sync.Pool) *frame {
	f := pool.Get().(*frame)
	f.out = out
	return f
}

// release gives a frame back; what was not flushed is lost.
func (f *frame) release(pool *sync.Pool) {
	f.out, f.err, f.buf = nil, nil, f.buf[:0]
	pool.Put(f)
}

// bytes fills frames to the brim: HTTP/2 then has full frames only, which are gathered on their way to the connection.
func (f *frame) bytes(b []byte) {
	if room := cap(f.buf) - len(f.buf); len(b) > room {
		f.buf = append(f.buf, b[:room]...)
		f.flush()
		if b = b[room:]; len(b) > cap(f.buf) {
			f.send(b)
			return
		}
	}
	f.buf = append(f.buf, b...)
}

func (f *frame) text(s string) {
	for len(s) > cap(f.buf)-len(f.buf) {
		n := cap(f.buf) - len(f.buf)
		f.buf = append(f.buf, s[:n]...)
		s = s[n:]
		f.flush()
	}
	f.buf = append(f.buf, s...)
}

// reserve makes room for n bytes, to be appended to f.buf directly. n is small.
func (f *frame) reserve(n int) {
	if n > cap(f.buf)-len(f.buf) {
		f.flush()
	}
}

func (f *frame) flush() {
	if len(f.buf) > 0 {
		f.send(f.buf)
		f.buf = f.buf[:0]
	}
}

func (f *frame) send(b []byte) {
	if f.err == nil {
		_, f.err = f.out.Write(b)
	}
}

// wanted are items for as long as what is written is taken: of a list's, most are still to be read when its client goes.
func (f *frame) wanted(items iter.Seq[api.Rendition]) iter.Seq[api.Rendition] {
	return func(yield func(api.Rendition) bool) {
		for item := range items {
			if f.err != nil || !yield(item) {
				return
			}
		}
	}
}

// rendition writes an object; head tells whether with its kind and apiVersion.
func (f *frame) rendition(r *api.Rendition, head bool, now time.Time) {
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

func (f *frame) age(since, now time.Time) {
	f.reserve(32)
	f.buf = append(f.buf, '"')
	f.buf = appendSince(f.buf, since, now)
	f.buf = append(f.buf, '"')
}

// varyEncoding is the header that says on what of a request an answer depends.
var varyEncoding = []string{"Accept-Encoding"}

// answer is the body of a response that has not begun: its first piece decides how it is sent.
type answer struct {
	w    http.ResponseWriter
	api  *API
	code int
	// contentType is the header's value. Like all such slices it is shared and never changed.
	contentType []string
	// gzip: the client takes it.
	gzip bool
	// complete: what is written first is all that there is.
	complete bool

	out      io.Writer
	zip      *gzip.Writer
	watchdog watchdog
}

// Write sends the header before the first piece.
func (a *answer) Write(b []byte) (int, error) {
	if a.out == nil {
		a.begin(len(b))
	}
	if !a.complete {
		a.watchdog.watch(a.w, a.api.writeTimeout)
	}
	if a.zip != nil {
		return a.zip.Write(b)
	}
	return a.w.Write(b)
}

func (a *answer) begin(size int) {
	header := a.w.Header()
	header["Content-Type"] = a.contentType
	if header["Vary"] == nil {
		header["Vary"] = varyEncoding
	} else {
		header.Add("Vary", "Accept-Encoding")
	}
	a.out = a.w
	switch {
	case a.gzip && (!a.complete || size > gzipThreshold):
		header.Set("Content-Encoding", "gzip")
		a.zip = a.api.pools.gzips.Get().(*gzip.Writer)
		a.zip.Reset(a.w)
		a.out = a.zip
	case a.complete:
		header.Set("Content-Length", strconv.Itoa(size))
	}
	a.w.WriteHeader(a.code)
}

// close ends the body.
func (a *answer) close() {
	defer a.watchdog.end()
	if a.zip != nil {
		_ = a.zip.Close() // the client went away
		a.zip.Reset(nil)
		a.api.pools.gzips.Put(a.zip)
	}
}

// watchdog drops clients that stopped reading: what is written must be taken in time. It is a timer of our own, since a
// deadline of the connection's costs HTTP/2 two turns of its loop for each piece. It isn't set for each piece either:
// when it goes off, it looks how long the one under way has. Where the connection can't be cut off, the server's own
// limits hold.
type watchdog struct {
	mu    sync.Mutex // guards what follows; held while the client is dropped
	timer *time.Timer
	set   bool      // the timer will go off
	until time.Time // for what is being written; zero where nothing is
	over  bool
}

// watch gives what is written to w next its time.
func (d *watchdog) watch(w http.ResponseWriter, timeout time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = time.Now().Add(timeout)
	switch {
	case d.timer == nil:
		d.timer = time.AfterFunc(timeout, func() { d.look(w) })
	case !d.set:
		d.timer.Reset(timeout)
	}
	d.set = true
}

// look is what the timer does.
func (d *watchdog) look(w http.ResponseWriter) {
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

// rest is for streams that wait.
func (d *watchdog) rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = time.Time{}
}

// end must be called before the handler returns: w is the server's again then.
func (d *watchdog) end() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.over = true
	if d.timer != nil {
		d.timer.Stop()
	}
}

// newAnswer is the one to the call.
func (c *call) newAnswer(f format, code int) *answer {
	return &answer{w: c.w, api: c.api, code: code, contentType: contentTypes[f], gzip: acceptsGzip(c.r)}
}

// respond writes the body that fill makes, indented where that is wanted.
func (c *call) respond(media mediaType, code int, fill func(*frame)) {
	frames := &c.api.pools.frames
	out := c.newAnswer(media.format, code)
	defer out.close()
	f := frameFor(out, frames)
	defer f.release(frames)
	if media.format == formatJSON && media.pretty {
		compact := frameFor(&indenter{f: f}, frames)
		defer compact.release(frames)
		fill(compact)
		compact.flush()
	} else {
		fill(f)
	}
	out.complete = out.out == nil
	f.flush()
}

// reencode turns JSON into what people read.
func (m mediaType) reencode(data []byte) ([]byte, error) {
	if m.format == formatYAML {
		return toYAML(data)
	}
	if m.format != formatJSON || !m.pretty {
		return data, nil
	}
	var out bytes.Buffer
	err := json.Indent(&out, data, "", "  ")
	return out.Bytes(), err
}

// acceptsGzip reads Accept-Encoding as kube-apiserver does: a mention is a wish, unless its weight is 0.
func acceptsGzip(r *http.Request) bool {
	for _, header := range r.Header.Values("Accept-Encoding") {
		for token := range strings.SplitSeq(header, ",") {
			name, weight, _ := strings.Cut(token, ";")
			if strings.TrimSpace(name) == "gzip" && strings.TrimSpace(weight) != "q=0" {
				return true
			}
		}
	}
	return false
}
