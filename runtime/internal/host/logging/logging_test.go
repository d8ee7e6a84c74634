package logging

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/slogtest"
	"testing/synctest"
	"time"
)

// output counts what is written to it.
type output struct {
	mu     sync.Mutex // guards the fields below
	text   strings.Builder
	writes int
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.writes++
	return o.text.Write(p)
}

func (o *output) seen() (text string, writes int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.writes
}

// wants compares the messages that were written, and the number of writes.
func (o *output) wants(t *testing.T, messages string, writes int) {
	t.Helper()
	text, n := o.seen()
	var got []string
	for line := range strings.Lines(text) {
		_, message, _ := strings.Cut(strings.TrimSpace(line), "msg=")
		got = append(got, message)
	}
	if strings.Join(got, " ") != messages || n != writes {
		t.Errorf("%q in %d writes, want %q in %d", got, n, messages, writes)
	}
}

const debug = slog.Level(-3)

// TestTogether: records below Info are written together, soon, and before a record from Info on.
func TestTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		handler, flush := New(Text, &out, debug)
		log := slog.New(handler)
		log.Log(t.Context(), debug, "a")
		log.With("k", "v").WithGroup("g").Log(t.Context(), debug, "b")
		log.Log(t.Context(), debug-1, "never")
		out.wants(t, "", 0)
		time.Sleep(soon)
		synctest.Wait()
		out.wants(t, "a b k=v", 1)

		log.Log(t.Context(), debug, "c")
		log.Info("d")
		out.wants(t, "a b k=v c d", 2)
		log.Warn("e")
		out.wants(t, "a b k=v c d e", 3)

		time.Sleep(soon) // the timer of c finds nothing
		synctest.Wait()
		log.Log(t.Context(), debug, "f")
		flush()
		out.wants(t, "a b k=v c d e f", 4)
		log.Log(t.Context(), debug, "g")
		time.Sleep(2 * soon)
		synctest.Wait()
		out.wants(t, "a b k=v c d e f g", 5)
	})
}

// TestHeldIsBounded: what is held is written before it is larger than its bound, and a larger record is written, too.
func TestHeldIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out output
		handler, flush := New(JSON, &out, debug)
		log := slog.New(handler)
		large := strings.Repeat("x", maxHeld/3)
		for range 3 {
			log.Log(t.Context(), debug, large)
		}
		if text, writes := out.seen(); writes != 1 || strings.Count(text, large) != 2 {
			t.Errorf("%d of three large records in %d writes", strings.Count(text, large), writes)
		}
		log.Log(t.Context(), debug, strings.Repeat("y", 3*maxHeld))
		flush()
		if text, writes := out.seen(); writes != 3 || strings.Count(text, "\n") != 4 {
			t.Errorf("%d records in %d writes", strings.Count(text, "\n"), writes)
		}
	})
}

// TestConcurrentRecords: each record is one line, whoever writes beside it.
func TestConcurrentRecords(t *testing.T) {
	var out output
	handler, flush := New(JSON, &out, debug)
	log := slog.New(handler)
	var writers sync.WaitGroup
	for i := range 8 {
		writers.Go(func() {
			for k := range 200 {
				log.Log(t.Context(), []slog.Level{debug, slog.LevelInfo}[(i+k)%2], fmt.Sprint(i, "-", k))
			}
		})
	}
	writers.Wait()
	flush()
	text, _ := out.seen()
	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		var record struct{ Msg string }
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen[record.Msg] = true
	}
	if len(seen) != 1600 {
		t.Errorf("%d records of 1600", len(seen))
	}
}

// TestHandler: the handler does what the package testing/slogtest wants of one.
func TestHandler(t *testing.T) {
	var out bytes.Buffer
	var flush func()
	slogtest.Run(t, func(*testing.T) slog.Handler {
		out.Reset()
		var handler slog.Handler
		handler, flush = New(JSON, &out, slog.LevelInfo)
		return handler
	}, func(t *testing.T) (record map[string]any) {
		flush()
		if err := json.Unmarshal(out.Bytes(), &record); err != nil {
			t.Fatal(err)
		}
		return record
	})
}

// request is a record as the access log has it.
func request() slog.Record {
	r := slog.NewRecord(time.Now(), debug, "HTTP", 0)
	r.AddAttrs(slog.Attr{Value: slog.GroupValue(
		slog.String("verb", "get"),
		slog.String("URI", "/apis/example.com/v1/namespaces/default/lamps/f17?resourceVersion=0"),
		slog.Duration("latency", 312345*time.Nanosecond), slog.String("userAgent", "kubectl/v1.37.0 (linux/amd64)"),
		slog.String("audit-ID", "f5f4c8ab-0f9f-4b7e-a0bd-5a1c3a2d4b55"), slog.String("srcIP", "127.0.0.1:41234"),
		slog.String("apf_pl", "global-default"), slog.Int("apf_iseats", 1), slog.Int("resp", 200),
	)})
	return r
}

// BenchmarkHandle is a line of the access log, without the output.
func BenchmarkHandle(b *testing.B) {
	for _, format := range []string{Text, JSON} {
		b.Run(format, func(b *testing.B) {
			handler, _ := New(format, io.Discard, debug)
			b.ReportAllocs()
			for b.Loop() {
				_ = handler.Handle(b.Context(), request())
			}
		})
	}
}
