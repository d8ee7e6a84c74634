package logging

import (
	"bytes"
	"errors"
	"log/slog"
	"math"
	"testing"
	"time"
)

// wantsSlogsLine compares a line with that of slog's TextHandler. It reports whether appendLine wrote it.
func wantsSlogsLine(t *testing.T, r slog.Record) bool {
	t.Helper()
	var want bytes.Buffer
	if err := slog.NewTextHandler(&want, &slog.HandlerOptions{Level: slog.Level(math.MinInt)}).Handle(t.Context(),
		r); err != nil {
		t.Fatal(err)
	}
	line, simple := appendLine(nil, r)
	if simple && string(line) != want.String() {
		t.Errorf("got  %q\nwant %q", line, want.String())
	}
	var got bytes.Buffer
	handler, flush := New(Text, &got, slog.Level(math.MinInt))
	if err := handler.Handle(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if flush(); got.String() != want.String() {
		t.Errorf("handled %q\nwant    %q", got.String(), want.String())
	}
	return simple
}

// FuzzLine: a line is the one that slog's TextHandler writes.
func FuzzLine(f *testing.F) {
	f.Add("HTTP", "verb", "get", int64(1), int64(-4), int64(1795000000123456789))
	f.Add("a b", "k=v", "", int64(-1), int64(8), int64(999999))
	f.Add("", "", "a\"b\\c\nd\x7f", int64(math.MinInt64), int64(100), int64(-1))
	f.Add("é", "k y", "\u2028 ", int64(math.MaxInt64), int64(-3), int64(1e18))
	f.Fuzz(func(t *testing.T, message, key, text string, number, level, nanoseconds int64) {
		for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 19800)} {
			r := slog.NewRecord(time.Unix(0, nanoseconds).In(zone), slog.Level(level), message, 0)
			r.AddAttrs(slog.String(key, text), slog.Int64("number", number),
				slog.Attr{Value: slog.GroupValue(slog.Duration("duration", time.Duration(number)),
					slog.String("text", text))})
			wantsSlogsLine(t, r)
		}
	})
}

// TestSimpleLines: lines of the access log are written in the short way, and those with other values by slog.
func TestSimpleLines(t *testing.T) {
	if !wantsSlogsLine(t, request()) {
		t.Error("a line of the access log isn't simple")
	}
	for _, a := range []slog.Attr{
		slog.Bool("b", true), slog.Any("error", errors.New("no")), slog.Group("g", "k", "v"), slog.Float64("f", 1),
		slog.Time("t", time.Unix(0, 0)), slog.String("text", "a\nb"), slog.Any("v", slog.StringValue("v")), {},
		slog.Uint64("u", 1), slog.Any("group", slog.GroupValue()),
	} {
		r := request()
		r.AddAttrs(a, slog.String("last", "one"))
		wantsSlogsLine(t, r)
	}
	r := request()
	r.Time = time.Time{}
	if wantsSlogsLine(t, r) {
		t.Error("a record without a time is simple")
	}
}
