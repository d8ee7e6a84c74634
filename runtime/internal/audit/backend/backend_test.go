package backend

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
)

func quiet() *Failures { return NewFailures(slog.New(slog.NewTextHandler(io.Discard, nil))) }

// memory is a target that keeps what it gets. It waits for gate before each delivery, if it has one.
type memory struct {
	gate chan error
	got  chan int // the size of each batch

	mu     sync.Mutex
	events []string
}

func (m *memory) Append(b []byte, event *trail.Event) ([]byte, error) {
	if event.Verb == "unencodable" {
		return b, errors.New("unencodable")
	}
	return event.AppendJSON(b)
}

func (m *memory) Deliver(_ context.Context, events [][]byte) error {
	if m.gate != nil {
		if err := <-m.gate; err != nil {
			return err
		}
	}
	m.mu.Lock()
	for _, event := range events {
		m.events = append(m.events, string(event))
	}
	m.mu.Unlock()
	if m.got != nil {
		m.got <- len(events)
	}
	return nil
}

func (m *memory) len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.events)
}

func event(id string) *trail.Event {
	return &trail.Event{AuditID: id, Level: trail.Metadata, Stage: trail.RequestReceived}
}

// start runs a backend. The function that it returns ends it, after what it holds is delivered.
func start(t *testing.T, b *Backend) (end func()) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	return func() {
		t.Helper()
		stop()
		select {
		case err := <-done:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(time.Minute):
			t.Fatal("the backend doesn't end")
		}
	}
}

func TestBlocking(t *testing.T) {
	for _, mode := range []Mode{Blocking, BlockingStrict} {
		target, failures := &memory{gate: make(chan error, 1)}, quiet()
		b := New(Config{Name: "log", Mode: mode}, target, failures)
		target.gate <- nil
		if !b.Process(event("a")) || target.len() != 1 {
			t.Errorf("%s: the event was not delivered", mode)
		}
		target.gate <- errors.New("disk full")
		if ok := b.Process(event("b")); ok == (mode == BlockingStrict) {
			t.Errorf("%s: a failure was answered %v", mode, ok)
		}
		if ok := b.Process(&trail.Event{Verb: "unencodable"}); ok == (mode == BlockingStrict) {
			t.Errorf("%s: an event that can't be encoded was answered %v", mode, ok)
		}
		if lost := failures.Lost()["log"]; lost != 2 {
			t.Errorf("%s: %d events are counted as lost", mode, lost)
		}
	}
}

// TestBatches: a batch is delivered when it is full, or when it has waited long enough; the rest when the server ends.
func TestBatches(t *testing.T) {
	target := &memory{got: make(chan int, 10)}
	config := Config{Mode: Batch, BufferSize: 100, MaxBatchSize: 3, MaxBatchWait: time.Hour, Senders: 1}
	b := New(config, target, quiet())
	end := start(t, b)
	for range 3 {
		b.Process(event("a"))
	}
	if n := <-target.got; n != 3 {
		t.Errorf("a batch of %d", n)
	}
	b.Process(event("b"))
	b.Process(event("c"))
	end()
	if target.len() != 5 {
		t.Errorf("%d events after the end", target.len())
	}
	failures := b.failures.Lost()["buffered"]
	if b.Process(event("late")); b.failures.Lost()["buffered"] != failures+1 {
		t.Error("an event after the end isn't counted as lost")
	}

	waiting := &memory{got: make(chan int, 10)}
	b = New(Config{Mode: Batch, BufferSize: 9, MaxBatchSize: 9, MaxBatchWait: time.Millisecond, Senders: 1}, waiting,
		quiet())
	end = start(t, b)
	b.Process(event("a"))
	if n := <-waiting.got; n != 1 {
		t.Errorf("a batch of %d", n)
	}
	end()
}

// TestMemoryIsBounded: a target that hangs makes the backend lose events, and hold no more than its bounds.
func TestMemoryIsBounded(t *testing.T) {
	target, failures := &memory{gate: make(chan error)}, quiet()
	const buffer, batch, senders, sent = 50, 5, 2, 10000
	b := New(Config{Mode: Batch, BufferSize: buffer, MaxBatchSize: batch, MaxBatchWait: time.Millisecond,
		Senders: senders}, target, failures)
	end := start(t, b)
	for range sent {
		if !b.Process(event("a")) {
			t.Fatal("a batch backend refuses a request")
		}
	}
	b.queue.mu.Lock()
	held := b.queue.bytes
	b.queue.mu.Unlock()
	line, _ := event("a").AppendJSON(nil)
	// The queue, the batches under way, and the one that waits for its turn.
	if most := int64(len(line)) * (buffer + batch*(senders+1)); held > most {
		t.Errorf("%d bytes are held, more than %d", held, most)
	}
	close(target.gate)
	end()
	if got, lost := target.len(), failures.Lost()["buffered"]; got+int(lost) != sent || lost == 0 {
		t.Errorf("%d events were delivered and %d lost, of %d", got, lost, sent)
	}
	if b.queue.bytes != 0 {
		t.Errorf("%d bytes are counted at the end", b.queue.bytes)
	}
}

// TestBytesAreBounded: large events fill the queue before their number does.
func TestBytesAreBounded(t *testing.T) {
	q := newQueue(1000, 100)
	if q.put(make([]byte, 60)) != nil || !errors.Is(q.put(make([]byte, 60)), errFull) ||
		q.put(make([]byte, 40)) != nil {
		t.Error("the bound isn't that of bytes")
	}
	batch := q.take(t.Context(), 1, 0, 0)
	if !errors.Is(q.put(make([]byte, 60)), errFull) {
		t.Error("the bytes of a batch under way don't count")
	}
	q.release(batch)
	if err := q.put(make([]byte, 60)); err != nil {
		t.Error(err)
	}
}

// TestBatchBytes: a batch is divided by the sizes of its events.
func TestBatchBytes(t *testing.T) {
	q := newQueue(10, 1000)
	for _, size := range []int{10, 10, 30, 10} {
		if err := q.put(make([]byte, size)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []int{2, 1, 1} {
		if got := len(q.take(t.Context(), 4, 25, 0)); got != want {
			t.Errorf("a batch of %d events, want %d", got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	target, failures := &memory{}, quiet()
	b := New(Config{Mode: BlockingStrict, MaxEventBytes: 1000}, target, failures)
	large := event("a")
	large.Level, large.RequestObject = trail.Request, json.RawMessage(`"`+strings.Repeat("a", 2000)+`"`)
	large.Annotations = trail.Annotations{{Key: "k", Value: "v"}}
	if !b.Process(large) || target.len() != 1 || large.RequestObject == nil || len(large.Annotations) != 1 {
		t.Fatal("a large event isn't delivered, or was changed")
	}
	var got trail.Event
	if err := json.Unmarshal([]byte(target.events[0]), &got); err != nil || got.RequestObject != nil ||
		got.Annotations.Get("audit.k8s.io/truncated") != "true" || got.Annotations.Get("k") != "v" {
		t.Errorf("%s: %v", target.events[0], err)
	}
	hopeless := event("b")
	hopeless.UserAgent = strings.Repeat("a", 2000)
	if !b.Process(hopeless) || target.len() != 1 || failures.Lost()["truncate"] != 1 {
		t.Error("an event that is too large anyhow")
	}
}

// TestRetry: a batch that fails is delivered again, and lost after five times. The end of the server ends the pauses.
func TestRetry(t *testing.T) {
	target, failures := &memory{gate: make(chan error, 10), got: make(chan int, 10)}, quiet()
	b := New(Config{Name: "webhook", Mode: Batch, BufferSize: 9, MaxBatchSize: 1, Senders: 1,
		Backoff: time.Microsecond},
		target, failures)
	end := start(t, b)
	for range 4 {
		target.gate <- errors.New("no")
	}
	target.gate <- nil
	b.Process(event("a"))
	<-target.got
	for range 5 {
		target.gate <- errors.New("no")
	}
	b.Process(event("b"))
	end()
	if target.len() != 1 || failures.Lost()["webhook"] != 1 {
		t.Errorf("%d delivered, %d lost", target.len(), failures.Lost()["webhook"])
	}

	slow := &memory{gate: make(chan error, 10)}
	b = New(Config{Name: "webhook", Mode: Batch, BufferSize: 9, MaxBatchSize: 1, Senders: 1, Backoff: time.Hour}, slow,
		failures)
	end = start(t, b)
	slow.gate <- errors.New("no")
	slow.gate <- nil
	b.Process(event("c"))
	end() // which doesn't take an hour
	if slow.len() != 1 {
		t.Error("the event wasn't delivered at the end")
	}
}

func TestLogFormats(t *testing.T) {
	var lines, legacy bytes.Buffer
	e := event("a")
	e.User = trail.User{Username: "alice", Groups: []string{"x", "y"}}
	e.SourceIPs, e.Verb, e.RequestURI = []string{"10.0.0.1"}, "get", "/x?a=\"b"
	for _, target := range []Target{Lines{&lines}, Legacy{&legacy}} {
		b := New(Config{Mode: BlockingStrict}, target, quiet())
		if !b.Process(e) || !b.Process(event("b")) {
			t.Error("an event was lost")
		}
	}
	if all := strings.Split(lines.String(), "\n"); len(all) != 3 || !json.Valid([]byte(all[0])) {
		t.Errorf("lines %q", all)
	}
	want := `0001-01-01T00:00:00Z AUDIT: id="a" stage="RequestReceived" ip="10.0.0.1" method="get" user="alice" ` +
		`groups="\"x\",\"y\"" as="<self>" asgroups="<lookup>" user-agent="" namespace="<none>" uri="/x?a=\"b" ` +
		"response=\"<deferred>\"\n"
	if got := legacy.String(); !strings.HasPrefix(got, want) {
		t.Errorf("got  %swant %s", got, want)
	}
}

func BenchmarkProcess(b *testing.B) {
	backend := New(Config{Mode: BlockingStrict}, Lines{io.Discard}, quiet())
	e := event("a")
	b.ReportAllocs()
	for b.Loop() {
		backend.Process(e)
	}
}
