package filter

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"apigen.dev/runtime/internal/request"
)

// Observation describes a request that was answered.
type Observation struct {
	Request  *http.Request
	Info     *request.Info // nil if the URL could not be read
	AuditID  string
	Code     int   // the status code of the answer
	Bytes    int64 // the size of the answer's body
	Duration time.Duration
}

// Observe calls observers with every request after it was answered, for metrics and logs.
func Observe(observers ...func(Observation)) Filter {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) {
		begin := time.Now()
		counted := &counting{ResponseWriter: w}
		returned := false
		defer func() {
			switch {
			case counted.code == 0 && returned:
				counted.code = http.StatusOK
			case counted.code == 0:
				counted.code = http.StatusInternalServerError // Recover will answer a panic
			}
			seen := Observation{
				Request: r, Info: request.InfoFrom(r.Context()), AuditID: auditIDOf(w), Code: counted.code,
				Bytes: counted.bytes, Duration: time.Since(begin),
			}
			for _, observer := range observers {
				observer(seen)
			}
		}()
		next.ServeHTTP(counted, r)
		returned = true
	}
}

// auditIDOf returns the audit ID that AuditID has put into the answer.
func auditIDOf(w http.ResponseWriter) string {
	if id := w.Header()[auditIDHeader]; len(id) > 0 {
		return id[0]
	}
	return ""
}

type counting struct {
	http.ResponseWriter
	code  int
	bytes int64
}

func (c *counting) WriteHeader(code int) {
	if c.code == 0 && isFinal(code) {
		c.code = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// isFinal reports whether a status code is that of an answer; an informational one only announces an answer.
func isFinal(code int) bool { return code >= http.StatusOK || code == http.StatusSwitchingProtocols }

func (c *counting) Write(p []byte) (int, error) {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Hijack is for upgraded connections. Their handlers write the answer to the connection.
func (c *counting) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil && c.code == 0 {
		c.code = http.StatusSwitchingProtocols
	}
	return conn, buffer, err
}

// Unwrap lets http.ResponseController reach the connection's writer.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }
