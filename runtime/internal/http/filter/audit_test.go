package filter

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/audit/trail"
)

// auditSink keeps the events of an Auditor, and fails at a stage.
type auditSink struct {
	mu     sync.Mutex
	events []trail.Event
	fail   trail.Stage
}

func (s *auditSink) Process(event *trail.Event) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, *event.Clone())
	return event.Stage != s.fail
}

func (s *auditSink) Decide(auth.Attributes) trail.Decision {
	return trail.Decision{Level: trail.Metadata}
}

// auditedChain is the order of the server, with audit.
func auditedChain(sink *auditSink, drain *Drain, handler http.HandlerFunc) http.Handler {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	return Chain(handler, AuditID(), Recover(log), RequestInfo(nil, &trail.Auditor{Policy: sink, Sink: sink}),
		AuditAnswers(), drain.Filter(isHealth), Deadline(time.Minute), Authenticate(healthIsPublic, log), Audit(),
		Impersonate(auth.MastersOnly{}, nil), MaxInFlight(1, 1, isHealth), Authorize(auth.Union{auth.MastersOnly{},
			auth.Paths{"/readyz"}}))
}

// TestAuditChain: requests that a filter refuses are audited as well as those that a handler answers.
func TestAuditChain(t *testing.T) {
	for _, test := range []struct {
		name, path, token string
		header            http.Header
		drained           bool
		handler           http.HandlerFunc
		stages            string
		code              int32
		decision          string
	}{
		{name: "served", token: "admin", stages: "RequestReceived ResponseComplete", code: 200, decision: "allow"},
		{name: "401", stages: "ResponseStarted", code: 401},
		{name: "403", token: "bob", stages: "RequestReceived ResponseComplete", code: 403, decision: "forbid"},
		{name: "503", token: "bob", drained: true, stages: "ResponseStarted", code: 503},
		{name: "400", token: "bob", path: "/apis/g/v1/things?timeout=x", stages: "ResponseStarted", code: 400},
		{name: "impersonation", token: "bob", header: http.Header{"Impersonate-User": {"admin"}},
			stages: "RequestReceived ResponseComplete", code: 403},
		{name: "health", path: "/readyz", stages: "RequestReceived ResponseComplete", code: 200, decision: "allow"},
		{name: "panic", token: "admin", handler: func(http.ResponseWriter, *http.Request) { panic("oops") },
			stages: "RequestReceived Panic", code: 500, decision: "allow"},
		{name: "an announcement", token: "admin", handler: func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(http.StatusCreated)
		}, stages: "RequestReceived ResponseComplete", code: 201, decision: "allow"},
		{name: "a watch", token: "admin", path: "/apis/g/v1/things?watch=1",
			stages: "RequestReceived ResponseStarted ResponseComplete", code: 200, decision: "allow"},
	} {
		t.Run(test.name, func(t *testing.T) {
			sink, drain := &auditSink{}, NewDrain(Ending{})
			if test.drained {
				drain.Start()
			}
			if test.path == "" {
				test.path = "/apis/g/v1/things"
			}
			if test.handler == nil {
				test.handler = whoami
			}
			r := httptest.NewRequest(http.MethodGet, test.path, nil)
			if test.header != nil {
				r.Header = test.header
			}
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			auditedChain(sink, drain, test.handler).ServeHTTP(httptest.NewRecorder(), r)
			var stages []string
			for _, event := range sink.events {
				stages = append(stages, string(event.Stage))
			}
			if got := strings.Join(stages, " "); got != test.stages {
				t.Fatalf("stages %q, want %q", got, test.stages)
			}
			last := sink.events[len(sink.events)-1]
			if last.ResponseStatus.Code != test.code ||
				last.Annotations.Get("authorization.k8s.io/decision") != test.decision {
				t.Errorf("status %+v, annotations %v", last.ResponseStatus, last.Annotations)
			}
		})
	}
}

// TestTooManyRequestsAreAudited: so is the answer 429.
func TestTooManyRequestsAreAudited(t *testing.T) {
	sink := &auditSink{}
	var handler http.Handler
	codes := make(chan int, 1)
	get := func() *http.Request {
		r := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil)
		r.Header.Set("Authorization", "Bearer bob")
		return r
	}
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	handler = Chain(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, get()) // while this one has the only place
		codes <- w.Code
	}), AuditID(), RequestInfo(nil, &trail.Auditor{Policy: sink, Sink: sink}), AuditAnswers(),
		Authenticate(healthIsPublic, log), Audit(), MaxInFlight(1, 1, isHealth))
	handler.ServeHTTP(httptest.NewRecorder(), get())
	if code := <-codes; code != http.StatusTooManyRequests || len(sink.events) != 4 ||
		sink.events[2].ResponseStatus.Code != http.StatusTooManyRequests {
		t.Errorf("code %d, events %+v", code, sink.events)
	}
}

// TestAuditStrict: a request whose first event is lost doesn't run, and is answered in kube-apiserver's words.
func TestAuditStrict(t *testing.T) {
	sink, ran := &auditSink{fail: trail.RequestReceived}, false
	handler := auditedChain(sink, NewDrain(Ending{}), func(http.ResponseWriter, *http.Request) { ran = true })
	r, w := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil), httptest.NewRecorder()
	r.Header.Set("Authorization", "Bearer admin")
	handler.ServeHTTP(w, r)
	if w.Code != 500 || ran || len(sink.events) != 1 ||
		!strings.Contains(status(t, w.Body.String()).Message, "failed to store audit event") {
		t.Errorf("code %d, ran %v, %d events: %s", w.Code, ran, len(sink.events), w.Body)
	}
}

// TestAuditID: the ID of the client, or a new one, is in the answer and in the events, whatever the answer is.
func TestAuditID(t *testing.T) {
	sink := &auditSink{}
	for _, id := range []string{"mine", ""} {
		for _, token := range []string{"admin", "eve"} {
			r, w := httptest.NewRequest(http.MethodGet, "/apis/g/v1/things", nil), httptest.NewRecorder()
			r.Header.Set("Authorization", "Bearer "+token)
			if id != "" {
				r.Header.Set("Audit-ID", id)
			}
			auditedChain(sink, NewDrain(Ending{}), whoami).ServeHTTP(w, r)
			got := w.Header().Get("Audit-ID")
			if id != "" && got != id || len(got) < 4 || sink.events[len(sink.events)-1].AuditID != got {
				t.Errorf("ID %q of %q", got, id)
			}
		}
	}
	w := httptest.NewRecorder()
	Chain(http.NotFoundHandler(), AuditID()).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/", nil))
	if len(w.Header().Get("Audit-ID")) != 36 {
		t.Errorf("ID %q", w.Header().Get("Audit-ID"))
	}
}

// TestAuditIsNoAmplifier: what a large request writes to the audit log is bounded, with and without credentials.
func TestAuditIsNoAmplifier(t *testing.T) {
	long := strings.Repeat("x", 900_000)
	for name, test := range map[string]struct {
		path, id, token string
	}{
		"a path, nobody":    {"/" + long, "", ""},
		"a path, somebody":  {"/" + long, "", "bob"},
		"a name, somebody":  {"/apis/g/v1/things/" + long, "", "bob"},
		"a group, somebody": {"/apis/" + long + "/v1/things", "", "bob"},
		"a query, somebody": {"/apis/g/v1/things?labelSelector=" + long, "", "bob"},
		"an ID, nobody":     {"/apis/g/v1/things", long, ""},
		"an ID, somebody":   {"/apis/g/v1/things", long, "bob"},
	} {
		t.Run(name, func(t *testing.T) {
			sink := &auditSink{}
			r := httptest.NewRequest(http.MethodGet, test.path, nil)
			if test.token != "" {
				r.Header.Set("Authorization", "Bearer "+test.token)
			}
			if test.id != "" {
				r.Header.Set("Audit-ID", test.id)
			}
			answer := httptest.NewRecorder()
			auditedChain(sink, NewDrain(Ending{}), func(http.ResponseWriter, *http.Request) {}).ServeHTTP(answer, r)
			written := 0
			for i := range sink.events {
				data, err := json.Marshal(&sink.events[i])
				if err != nil {
					t.Fatal(err)
				}
				written += len(data)
			}
			if written == 0 || written > 120_000 {
				t.Errorf("a request of 900,000 bytes writes %d bytes in %d events", written, len(sink.events))
			}
			if id := answer.Header().Get("Audit-ID"); len(id) > maxAuditID {
				t.Errorf("the answer has an audit ID of %d bytes", len(id))
			}
		})
	}
}
