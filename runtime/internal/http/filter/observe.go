package filter

import (
	"bufio"
	"net"
	"net/http"
	"time"

	"apigen.dev/runtime/internal/http/respond"
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
	// Terminated reports whether the server gave the request up, because it had no room or no time left for it.
	Terminated bool
}

// Observe calls observers with every request after it was answered, for metrics and logs.
func Observe(observers ...func(Observation)) Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			begin := time.Now()
			counted := &counting{ResponseWriter: w, announcer: respond.AnnouncerFrom(r)}
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
					Bytes: counted.bytes, Duration: time.Since(begin), Terminated: counted.terminated,
				}
				for _, observer := range observers {
					observer(seen)
				}
			}()
			next.ServeHTTP(counted, r)
			returned = true
		})
	}
}

// auditIDOf returns the audit ID that AuditID has put into the answer.
func auditIDOf(w http.ResponseWriter) string {
	if id := w.Header()[auditIDHeader]; len(id) > 0 {
		return id[0]
	}
	return ""
}

// counting notes the code and the size of an answer, and gives the request's place back when the answer begins.
type counting struct {
	http.ResponseWriter
	code  int
	bytes int64
	place place
	// announcer wants to know of the answer; nil if nothing does.
	announcer respond.Announcer
	// terminated is that of the Observation.
	terminated bool
}

// countingOf returns the counting writer below w. If there is none, it makes one, and returns it as the new w, too.
func countingOf(w http.ResponseWriter) (http.ResponseWriter, *counting) {
	for below := w; ; {
		if c, ok := below.(*counting); ok {
			return w, c
		}
		wrapper, ok := below.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			c := &counting{ResponseWriter: w}
			return c, c
		}
		below = wrapper.Unwrap()
	}
}

// begin notes the code of an answer, and dates it. Later ones don't count.
func (c *counting) begin(code int) {
	if c.code == 0 && isFinal(code) {
		c.code = code
		c.place.answer()
		setDate(c.Header(), time.Now())
	}
}

// Announce implements respond.Announcer.
func (c *counting) Announce(size int) {
	if c.announcer != nil {
		c.announcer.Announce(size)
	}
}

// terminate notes that the server gives a request up.
func terminate(w http.ResponseWriter) {
	_, answer := countingOf(w)
	answer.terminated = true
}

func (c *counting) WriteHeader(code int) {
	c.begin(code)
	c.ResponseWriter.WriteHeader(code)
}

// isFinal reports whether a status code is that of an answer; an informational one only announces an answer.
func isFinal(code int) bool { return code >= http.StatusOK || code == http.StatusSwitchingProtocols }

func (c *counting) Write(p []byte) (int, error) {
	c.begin(http.StatusOK)
	n, err := c.ResponseWriter.Write(p)
	c.bytes += int64(n)
	return n, err
}

// Hijack is for upgraded connections. Their handlers write the answer to the connection.
func (c *counting) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(c.ResponseWriter).Hijack()
	if err == nil {
		c.begin(http.StatusSwitchingProtocols)
	}
	return conn, buffer, err
}

// Unwrap lets http.ResponseController reach the connection's writer.
func (c *counting) Unwrap() http.ResponseWriter { return c.ResponseWriter }
