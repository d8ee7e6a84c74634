package filter

import (
	"bufio"
	"errors"
	"net"
	"net/http"

	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/respond"
	"github.com/google/uuid"
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
				id = uuid.NewString()
			}
			w.Header()[auditIDHeader] = []string{id}
			next.ServeHTTP(w, r)
		})
	}
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
