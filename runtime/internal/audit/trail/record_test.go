package trail

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"apigen.dev/runtime/auth"
	"apigen.dev/runtime/internal/request"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// kept is a sink that keeps copies of events, and their JSON. It fails at the stage fail.
type kept struct {
	events []Event
	lines  []string
	fail   Stage
}

func (k *kept) Process(event *Event) bool {
	line, err := event.AppendJSON(nil)
	if err != nil {
		line = []byte(err.Error())
	}
	k.events, k.lines = append(k.events, *event.Clone()), append(k.lines, string(line))
	return event.Stage != k.fail
}

func (k *kept) stages() string {
	var all []string
	for _, event := range k.events {
		all = append(all, string(event.Stage))
	}
	return strings.Join(all, " ")
}

type always Decision

func (a always) Decide(auth.Attributes) Decision { return Decision(a) }

// newRecord returns the record of a request, the request with it in its context, and the sink of its events.
func newRecord(t *testing.T, decision Decision, target string) (*Record, *http.Request, *kept) {
	t.Helper()
	sink := &kept{}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, target, nil)
	info, err := request.New(r, nil)
	if err != nil {
		t.Fatal(err)
	}
	record := (&Auditor{Policy: always(decision), Sink: sink}).NewRecord(r.Context(), "id")
	ctx := request.WithInfo(record, info)
	return record, r.WithContext(auth.WithUser(ctx, &auth.User{Name: "alice", Groups: []string{"dev"}})), sink
}

const widget = "/apis/shop.example.com/v1/namespaces/ns/widgets/a"

func TestStages(t *testing.T) {
	answered := func(record *Record, r *http.Request) {
		record.Begin(r)
		record.Answer(r, 200)
		record.Complete(r)
	}
	for _, test := range []struct {
		name     string
		decision Decision
		target   string
		run      func(*Record, *http.Request)
		stages   string
		code     int32
	}{
		{"a get", Decision{Level: Metadata}, widget, answered, "RequestReceived ResponseComplete", 200},
		{"a watch", Decision{Level: Metadata}, "/apis/g/v1/widgets?watch=1", answered,
			"RequestReceived ResponseStarted ResponseComplete", 200},
		{"omitted stages", Decision{Level: Metadata, Omit: []Stage{RequestReceived}}, widget, answered,
			"ResponseComplete", 200},
		{"none", Decision{Level: None}, widget, answered, "", 0},
		{"refused before the user is known", Decision{Level: Metadata}, widget, func(record *Record, r *http.Request) {
			record.SetStatus(&metav1.Status{Code: 401, Message: "Unauthorized"}, "")
			record.Answer(r, 401)
			record.Complete(r)
		}, "ResponseStarted", 401},
		{"a panic", Decision{Level: Metadata}, widget, func(record *Record, r *http.Request) {
			record.Begin(r)
			record.Panicked("oops")
			record.Complete(r)
		}, "RequestReceived Panic", 500},
		{"closed early", Decision{Level: Metadata}, "/apis/g/v1/widgets?watch=1",
			func(record *Record, r *http.Request) {
				record.Begin(r)
				record.Complete(r)
			}, "RequestReceived ResponseStarted ResponseComplete", 200},
	} {
		t.Run(test.name, func(t *testing.T) {
			record, r, sink := newRecord(t, test.decision, test.target)
			test.run(record, r)
			if sink.stages() != test.stages {
				t.Fatalf("stages %q, want %q", sink.stages(), test.stages)
			}
			if n := len(sink.events); n > 0 && sink.events[n-1].ResponseStatus.Code != test.code {
				t.Errorf("status %+v", sink.events[n-1].ResponseStatus)
			}
		})
	}
}

// TestLost: a request whose first event is lost must not run, and has no further events.
func TestLost(t *testing.T) {
	record, r, sink := newRecord(t, Decision{Level: Metadata}, widget)
	sink.fail = RequestReceived
	if record.Begin(r) {
		t.Fatal("the request may run")
	}
	record.Answer(r, 500)
	record.Complete(r)
	if sink.stages() != "RequestReceived" || record.auditor.Counts.Rejected.Load() != 1 {
		t.Errorf("stages %q, rejected %d", sink.stages(), record.auditor.Counts.Rejected.Load())
	}
}

func TestAnnotate(t *testing.T) {
	Annotate(context.Background(), "a", "b") // of no request
	record, r, sink := newRecord(t, Decision{Level: Metadata}, widget)
	Annotate(r.Context(), "early", "1")
	record.Begin(r)
	Annotate(r.Context(), "late", "2")
	Annotate(r.Context(), "late", "3")
	record.Complete(r)
	first, last := sink.events[0].Annotations, sink.events[1].Annotations
	if first.Get("early") != "1" || last.Get("early") != "1" || last.Get("late") != "2" || len(last) != 2 {
		t.Errorf("annotations %v and %v", first, last)
	}
}

// TestObjectsByLevel: an event has the object of the request and that of the answer at their levels alone.
func TestObjectsByLevel(t *testing.T) {
	for i, level := range Levels {
		record, r, sink := newRecord(t, Decision{Level: level, OmitManagedFields: true}, widget)
		record.Begin(r)
		record.SetRequest([]byte(`{"metadata": {"managedFields": []}}`))
		record.SetRequest([]byte(`{"second":1}`))
		record.SetResponse([]byte("{}\n"))
		record.Complete(r)
		var last Event
		if n := len(sink.events); n > 0 {
			last = sink.events[n-1]
		}
		want := [][2]string{{}, {}, {`{"metadata":{}}`, ""}, {`{"metadata":{}}`, "{}"}}[i]
		if string(last.RequestObject) != want[0] || string(last.ResponseObject) != want[1] {
			t.Errorf("%s: %s and %s", level, last.RequestObject, last.ResponseObject)
		}
	}
}

// TestRequestMetadata: an event has what kube-apiserver's has of a request.
func TestRequestMetadata(t *testing.T) {
	record, r, sink := newRecord(t, Decision{Level: Metadata}, widget+"?x=%2f")
	r.Header.Set("User-Agent", strings.Repeat("a", 2000))
	r.Header.Set("X-Forwarded-For", "10.0.0.1, nonsense, 10.0.0.2")
	r.Header.Set("X-Real-Ip", "10.0.0.3")
	r.RemoteAddr = "10.0.0.4:1234"
	record.Begin(r)
	record.SetImpersonated(&auth.User{Name: "bob", Extra: map[string][]string{"k": {"v"}}}, "")
	record.SetObject(&metav1.ObjectMeta{Name: "other", UID: "u", ResourceVersion: "7"})
	record.Complete(r)
	for i, event := range sink.events { // what the events have in common was encoded once, what changed again
		if want, err := event.AppendJSON(nil); err != nil || sink.lines[i] != string(want) {
			t.Errorf("got  %s\nwant %s\nerror %v", sink.lines[i], want, err)
		}
	}
	e := sink.events[1]
	switch {
	case len(e.UserAgent) != 1024+len("...TRUNCATED"):
		t.Errorf("user agent %q", e.UserAgent)
	case !slices.Equal(e.SourceIPs, []string{"10.0.0.1", "10.0.0.2", "10.0.0.3", "10.0.0.4"}):
		t.Errorf("addresses %v", e.SourceIPs)
	case e.User.Username != "alice" || e.ImpersonatedUser.Username != "bob" || e.ImpersonatedUser.Extra["k"][0] != "v":
		t.Errorf("users %+v, %+v", e.User, e.ImpersonatedUser)
	case *e.ObjectRef != ObjectReference{Resource: "widgets", Namespace: "ns", Name: "a", UID: "u",
		APIGroup: "shop.example.com", APIVersion: "v1", ResourceVersion: "7"}:
		t.Errorf("object %+v", e.ObjectRef)
	case e.RequestURI != widget+"?x=%2f" || e.Verb != "get" || e.AuditID != "id":
		t.Errorf("event %+v", e)
	}
}
