package logging

import (
	"log/slog"
	"strconv"
	"sync/atomic"
	"time"
)

// appendLine appends the line that slog's TextHandler would write for a record, in a third of its time. It returns
// false for a record that has more than numbers, durations, and texts of printable ASCII.
func appendLine(line []byte, r slog.Record) ([]byte, bool) {
	if r.Time.IsZero() || r.PC != 0 {
		return line, false
	}
	line = appendTime(append(line, slog.TimeKey+"="...), r.Time)
	line = append(append(line, " "+slog.LevelKey+"="...), levelText(r.Level)...)
	line, simple := appendText(append(line, " "+slog.MessageKey+"="...), r.Message)
	if !simple {
		return line, false
	}
	r.Attrs(func(a slog.Attr) bool {
		line, simple = appendAttribute(line, a)
		return simple
	})
	return append(line, '\n'), simple
}

// milliseconds is the format of times in slog's lines.
const milliseconds = "2006-01-02T15:04:05.000Z07:00"

// appendTime appends a time with milliseconds. Package time has a short way for RFC 3339 alone.
func appendTime(line []byte, t time.Time) []byte {
	if year := t.Year(); year < 0 || year > 9999 {
		return t.AppendFormat(line, milliseconds)
	}
	s := lastSecond.Load()
	if unix := t.Unix(); s == nil || s.unix != unix || s.location != t.Location() {
		s = &second{unix, t.Location(), t.Format(time.RFC3339)}
		lastSecond.Store(s)
	}
	const fraction = len("2006-01-02T15:04:05")
	n := t.Nanosecond() / int(time.Millisecond)
	line = append(line, s.text[:fraction]...)
	line = append(line, '.', byte('0'+n/100), byte('0'+n/10%10), byte('0'+n%10))
	return append(line, s.text[fraction:]...)
}

// second is the text of a second: many lines are of the same one.
type second struct {
	unix     int64
	location *time.Location
	text     string
}

var lastSecond atomic.Pointer[second]

// levelText returns the name of a level.
func levelText(level slog.Level) string {
	if level < slog.LevelDebug || level > slog.LevelError {
		return level.String()
	}
	return levels[level-slog.LevelDebug]
}

// levels are the names of the usual levels, which String would put together each time.
var levels = func() (names [slog.LevelError - slog.LevelDebug + 1]string) {
	for i := range names {
		names[i] = (slog.LevelDebug + slog.Level(i)).String()
	}
	return names
}()

// appendAttribute appends an attribute with the space in front of it. The attributes of a group without a key are
// written like others.
func appendAttribute(line []byte, a slog.Attr) (_ []byte, simple bool) {
	kind := a.Value.Kind()
	if kind == slog.KindGroup {
		if a.Key != "" {
			return line, false
		}
		for _, below := range a.Value.Group() {
			if line, simple = appendAttribute(line, below); !simple {
				return line, false
			}
		}
		return line, true
	}
	if a.Key == "" {
		return line, false
	}
	if line, simple = appendText(append(line, ' '), a.Key); !simple {
		return line, false
	}
	line = append(line, '=')
	switch kind {
	case slog.KindString:
		return appendText(line, a.Value.String())
	case slog.KindInt64:
		return strconv.AppendInt(line, a.Value.Int64(), 10), true
	case slog.KindDuration:
		return append(line, a.Value.Duration().String()...), true
	}
	return line, false
}

// appendText appends a text, in quotes if it isn't a plain word. It returns false for one that needs escapes.
func appendText(line []byte, text string) (_ []byte, simple bool) {
	form := plain
	if text == "" {
		form = quoted
	}
	for i := range len(text) {
		form |= forms[text[i]]
	}
	switch {
	case form&escaped != 0:
		return line, false
	case form&quoted != 0:
		return append(append(append(line, '"'), text...), '"'), true
	}
	return append(line, text...), true
}

// textForm is how a text stands in a line: what the forms of its characters have together.
type textForm uint8

const (
	quoted textForm = 1 << iota
	escaped
	plain textForm = 0
)

// forms are those of characters.
var forms = func() (of [256]textForm) {
	for c := range of {
		switch {
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			of[c] = escaped
		case c == ' ' || c == '=':
			of[c] = quoted
		}
	}
	return of
}()
