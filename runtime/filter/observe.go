package filter

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"apigen.dev/runtime/request"
)

// Observation describes a request that was answered.
type Observation struct {
	Info     *request.Info // nil if the URL could not be read
	Code     int           // the status code of the answer
	Duration time.Duration
}

// Observe calls observer with every request after it was answered, for metrics and logs.
func Observe(observer func(Observation)) Filter {
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
			observer(Observation{request.InfoFrom(r.Context()), counted.code, time.Since(begin)})
		}()
		next.ServeHTTP(counted, r)
		returned = true
	}
}

type counting struct {
	http.ResponseWriter
	code int
}

func (c *counting) WriteHeader(code int) {
	if c.code == 0 && isFinal(code) {
		c.code = code
	}
	c.ResponseWriter.WriteHeader(code)
}

// isFinal tells whether a status code is that of an answer; an informational one only announces an answer.
func isFinal(code int) bool { return code >= http.StatusOK || code == http.StatusSwitchingProtocols }

func (c *counting) Write(p []byte) (int, error) {
	if c.code == 0 {
		c.code = http.StatusOK
	}
	return c.ResponseWriter.Write(p)
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
