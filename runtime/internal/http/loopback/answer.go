package loopback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// answer is the http.ResponseWriter of a handler, and the response of its client.
type answer struct {
	request *http.Request
	header  http.Header
	// cancel ends the context of the handler's request.
	cancel context.CancelCauseFunc
	reader *io.PipeReader
	writer *io.PipeWriter
	// begun is closed once response is set, or once the request has failed without one.
	begun    chan struct{}
	response *http.Response
	bodiless bool

	mu      sync.Mutex // guards the fields below
	over    bool       // begun is closed
	expires *time.Timer
}

func newAnswer(r *http.Request, cancel context.CancelCauseFunc) *answer {
	a := &answer{request: r, header: http.Header{}, cancel: cancel, begun: make(chan struct{})}
	a.reader, a.writer = io.Pipe()
	return a
}

// serve calls the handler. If it panics, the client gets an error, or a body that breaks off.
func (a *answer) serve(handler http.Handler, r *http.Request) {
	defer a.cancel(nil)
	defer func() {
		if p := recover(); p == http.ErrAbortHandler { //nolint:errorlint // net/http compares it as well
			a.fail(errors.New("loopback: the server aborted the response"))
		} else if p != nil {
			a.fail(fmt.Errorf("loopback: the handler panicked: %v", p))
		}
	}()
	handler.ServeHTTP(a, r)
	a.WriteHeader(http.StatusOK)
	for name := range a.responseTrailer() {
		a.response.Trailer[name] = a.header[name]
	}
	_ = a.writer.Close() // it never fails
	_ = a.SetWriteDeadline(time.Time{})
}

// Header implements http.ResponseWriter.
func (a *answer) Header() http.Header { return a.header }

// WriteHeader implements http.ResponseWriter. The client gets no informational responses.
func (a *answer) WriteHeader(code int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.over || code < http.StatusOK {
		return
	}
	a.over = true
	header := a.header.Clone()
	trailer := announced(header)
	a.bodiless = a.request.Method == http.MethodHead || code == http.StatusNoContent ||
		code == http.StatusNotModified
	a.response = &http.Response{
		Status: strconv.Itoa(code) + " " + http.StatusText(code), StatusCode: code,
		Proto: "HTTP/2.0", ProtoMajor: 2, Header: header, Trailer: trailer, ContentLength: length(header),
		Body: body{a.reader, func() { a.cancel(context.Canceled) }}, Request: a.request,
	}
	close(a.begun)
}

// announced removes from a header the names of the trailers that it announces, and returns them.
func announced(header http.Header) http.Header {
	var trailer http.Header
	for _, line := range header.Values("Trailer") {
		for name := range strings.SplitSeq(line, ",") {
			if trailer == nil {
				trailer = http.Header{}
			}
			trailer[http.CanonicalHeaderKey(strings.TrimSpace(name))] = nil
		}
	}
	header.Del("Trailer")
	return trailer
}

func length(header http.Header) int64 {
	if n, err := strconv.ParseInt(header.Get("Content-Length"), 10, 64); err == nil {
		return n
	}
	return -1
}

// responseTrailer returns the trailers that were announced. The client reads them after the end of the body.
func (a *answer) responseTrailer() http.Header {
	if a.response == nil {
		return nil
	}
	return a.response.Trailer
}

// Write implements http.ResponseWriter. It returns when the client has read b.
func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if a.bodiless {
		return len(b), nil
	}
	return a.writer.Write(b)
}

// FlushError is what http.ResponseController calls.
func (a *answer) FlushError() error {
	a.WriteHeader(http.StatusOK)
	return nil
}

// Flush implements http.Flusher.
func (a *answer) Flush() { _ = a.FlushError() }

// SetWriteDeadline is what http.ResponseController calls: the body breaks off if a client hasn't read it in time.
func (a *answer) SetWriteDeadline(deadline time.Time) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.expires != nil {
		a.expires.Stop()
		a.expires = nil
	}
	if !deadline.IsZero() {
		a.expires = time.AfterFunc(time.Until(deadline), func() { a.fail(os.ErrDeadlineExceeded) })
	}
	return nil
}

// fail ends the handler's request. The client gets err instead of the response, or instead of the rest of its body.
func (a *answer) fail(err error) {
	// The body breaks off before the handler may return, since serve would end it as if it were complete.
	_ = a.writer.CloseWithError(err) // it never fails
	a.cancel(err)
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.over = true
		close(a.begun)
	}
}
