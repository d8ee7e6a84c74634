package respond

import (
	"bufio"
	"net"
	"net/http"
	"time"
)

// ByProgress serves a request whose answer may take any time, as long as its client reads on. It lifts the deadline
// that the server gives to every answer. Instead the client has timeout to take each write, and timeout to take the
// rest when handler has returned. A handler that takes over the connection (Hijack) bounds its writes itself.
func ByProgress(w http.ResponseWriter, r *http.Request, handler http.Handler, timeout time.Duration) {
	p := &progress{ResponseWriter: w, timeout: timeout}
	liftWriteDeadline(w)
	defer p.end()
	handler.ServeHTTP(p, r)
}

// liftWriteDeadline takes away the deadline of an answer. A writer without one (in tests inside the process) has no
// slow clients either.
func liftWriteDeadline(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Time{})
}

// endWithin gives the client timeout to take what the server still holds of an answer when its handler returns.
func endWithin(w http.ResponseWriter, timeout time.Duration) {
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(timeout))
}

// progress gives each write its time.
type progress struct {
	http.ResponseWriter
	timeout  time.Duration
	deadline WriteDeadline
	hijacked bool
}

func (p *progress) Write(b []byte) (int, error) {
	p.deadline.Start(p.ResponseWriter, p.timeout)
	defer p.deadline.Pause()
	return p.ResponseWriter.Write(b)
}

// FlushError is what http.ResponseController calls.
func (p *progress) FlushError() error {
	p.deadline.Start(p.ResponseWriter, p.timeout)
	defer p.deadline.Pause()
	return http.NewResponseController(p.ResponseWriter).Flush()
}

// Hijack is for upgraded connections.
func (p *progress) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(p.ResponseWriter).Hijack()
	p.hijacked = p.hijacked || err == nil
	return conn, buffer, err
}

// Unwrap lets http.ResponseController reach the connection's writer.
func (p *progress) Unwrap() http.ResponseWriter { return p.ResponseWriter }

func (p *progress) end() {
	p.deadline.Stop()
	if !p.hijacked {
		endWithin(p.ResponseWriter, p.timeout)
	}
}
