package backend

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"apigen.dev/runtime/internal/audit/trail"
)

// slow is a file whose writes last until the test lets them go, if it has a gate.
type slow struct {
	bytes.Buffer
	writes      atomic.Int32
	begun, gate chan struct{}
}

func (s *slow) Write(p []byte) (int, error) {
	s.writes.Add(1)
	if s.gate != nil {
		s.begun <- struct{}{}
		<-s.gate
	}
	return s.Buffer.Write(p)
}

func staged(id string, stage trail.Stage) *trail.Event {
	return &trail.Event{AuditID: id, Stage: stage, Level: trail.Metadata}
}

// TestEventsAreGathered: what comes while a piece is written is the next piece, and each request returns when its
// events are written.
func TestEventsAreGathered(t *testing.T) {
	file := &slow{begun: make(chan struct{}), gate: make(chan struct{})}
	log := NewGathered(Lines{}, file)
	b := New(Config{Mode: Blocking}, log, quiet())
	returned := make(chan string, 3)
	request := func(id string) {
		b.Process(staged(id, trail.RequestReceived))
		b.Process(staged(id, trail.ResponseComplete))
		returned <- id
	}
	go request("r0")
	<-file.begun
	for _, id := range []string{"r1", "r2"} {
		go request(id)
		for !log.holds(`"auditID":"` + id + `","stage":"ResponseComplete"`) {
			runtime.Gosched()
		}
	}
	file.gate <- struct{}{}
	if id := <-returned; id != "r0" {
		t.Errorf("%s returned before its events were written", id)
	}
	<-file.begun
	if len(returned) > 0 {
		t.Errorf("%s returned before its events were written", <-returned)
	}
	file.gate <- struct{}{}
	<-returned
	<-returned
	lines := strings.Split(strings.TrimSuffix(file.String(), "\n"), "\n")
	for i, line := range lines {
		want := fmt.Sprintf(`"auditID":"r%d","stage":"%s"`, i/2, [...]trail.Stage{
			trail.RequestReceived, trail.ResponseComplete}[i%2])
		if len(lines) != 6 || !strings.Contains(line, want) {
			t.Errorf("%d lines; line %d is %s", len(lines), i, line)
		}
	}
}

// holds reports whether a text waits to be written.
func (g *Gathered) holds(text string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.next != nil && strings.Contains(string(g.next.data), text)
}

// TestEventsAreWrittenSoon: the event of a request that goes on for long is written all the same.
func TestEventsAreWrittenSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &slow{}
		b := New(Config{Mode: Blocking}, NewGathered(Lines{}, file), quiet())
		for i := range 3 {
			b.Process(staged("r", trail.RequestReceived))
			b.Process(staged("s", trail.RequestReceived))
			if file.writes.Load() != int32(i) {
				t.Errorf("%d writes before the time", file.writes.Load())
			}
			time.Sleep(soon)
			synctest.Wait()
			if file.writes.Load() != int32(i+1) || strings.Count(file.String(), "\n") != 2*i+2 {
				t.Errorf("%d writes: %s", file.writes.Load(), file.String())
			}
		}
	})
}

// TestLargeEventsAreDivided: a piece is bounded.
func TestLargeEventsAreDivided(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		file := &slow{}
		b := New(Config{Mode: Blocking}, NewGathered(Lines{}, file), quiet())
		large := staged("r", trail.RequestReceived)
		large.RequestURI = strings.Repeat("x", maxPiece/2)
		for range 3 {
			b.Process(large)
		}
		if file.writes.Load() != 2 {
			t.Errorf("%d writes", file.writes.Load())
		}
		time.Sleep(soon)
		synctest.Wait()
		if file.writes.Load() != 3 || strings.Count(file.String(), "\n") != 3 {
			t.Errorf("%d writes", file.writes.Load())
		}
	})
}

// TestLostEventsAreCounted: each event of a piece that can't be written counts, also those that nobody waits for.
func TestLostEventsAreCounted(t *testing.T) {
	failures := quiet()
	b := New(Config{Name: "log", Mode: Blocking}, NewGathered(Lines{}, full{}), failures)
	b.Process(staged("r", trail.RequestReceived))
	if b.Process(staged("s", trail.RequestReceived)); !b.Process(staged("r", trail.ResponseComplete)) {
		t.Error("a lost event refuses the request")
	}
	if lost := failures.Lost()["log"]; lost != 3 {
		t.Errorf("%d events are lost", lost)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// BenchmarkGathered is the cost of the two events of a request, from many goroutines.
func BenchmarkGathered(b *testing.B) {
	backend := New(Config{Mode: Blocking}, NewGathered(Lines{}, io.Discard), quiet())
	first, last := staged("r", trail.RequestReceived), staged("r", trail.ResponseComplete)
	b.ReportAllocs()
	b.RunParallel(func(p *testing.PB) {
		for p.Next() {
			backend.Process(first)
			backend.Process(last)
		}
	})
}
