package filter

import (
	"bufio"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"net"
	"net/http"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/respond"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// auditIDHeader is the header of the audit ID, in the form of keys of http.Header.
const auditIDHeader = "Audit-Id"

// maxAuditID bounds the audit ID of a client, in bytes: it is in each event of the request, and in the answer. A UUID
// has 36. A longer one is replaced.
const maxAuditID = 256

// AuditID gives every request an audit ID, that of the client or a new one, and sends it back.
func AuditID() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			id := r.Header.Get(auditIDHeader)
			if id == "" || len(id) > maxAuditID {
				id = newAuditID()
			}
			w.Header()[auditIDHeader] = []string{id}
			next.ServeHTTP(w, r)
		})
	}
}

const hexDigits = "0123456789abcdef"

// newAuditID returns a random UUID (RFC 9562, version 4). It names a request, and is no secret: it need not be made of
// the kernel's random numbers, which cost more than a filter.
func newAuditID() string {
	var bytes [16]byte
	binary.LittleEndian.PutUint64(bytes[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(bytes[8:], rand.Uint64())
	bytes[6] = bytes[6]&0x0f | 0x40 // the version
	bytes[8] = bytes[8]&0x3f | 0x80 // the variant
	text := make([]byte, 0, 36)
	for i, b := range bytes {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = append(text, hexDigits[b>>4], hexDigits[b&0x0f])
	}
	return string(text)
}

// AuditAnswers records the status codes of answers. It stands in front of the filters that refuse requests before Audit
// sees them, so that their answers are recorded, too.
func AuditAnswers() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if record := trail.RecordFrom(r.Context()); record != nil {
				w = &audited{ResponseWriter: w, record: record, request: r}
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Audit records each request of an authenticated user when it is received, and when it is answered or ends with a
// panic. If the server may run no request without an event, and the event is lost, Audit answers 500.
func Audit() Filter {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			record := trail.RecordFrom(r.Context())
			if record == nil {
				next.ServeHTTP(w, r)
				return
			}
			if !record.Begin(r) {
				respond.Error(w, r, apierrors.NewInternalError(errors.New("failed to store audit event")))
				return
			}
			defer func() {
				if cause := recover(); cause != nil {
					record.Panicked(cause)
					panic(cause)
				}
				record.Complete(r)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// audited tells a record the code of the answer.
type audited struct {
	http.ResponseWriter
	record  *trail.Record
	request *http.Request
	begun   bool
}

func (a *audited) answer(code int) {
	if !a.begun && isFinal(code) {
		a.begun = true
		a.record.Answer(a.request, code)
	}
}

func (a *audited) WriteHeader(code int) {
	a.answer(code)
	a.ResponseWriter.WriteHeader(code)
}

func (a *audited) Write(p []byte) (int, error) {
	a.answer(http.StatusOK)
	return a.ResponseWriter.Write(p)
}

// Hijack is for upgraded connections. Their handlers write the answer to the connection.
func (a *audited) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffer, err := http.NewResponseController(a.ResponseWriter).Hijack()
	if err == nil {
		a.answer(http.StatusSwitchingProtocols)
	}
	return conn, buffer, err
}

// Unwrap lets http.ResponseController reach the connection's writer.
func (a *audited) Unwrap() http.ResponseWriter { return a.ResponseWriter }
