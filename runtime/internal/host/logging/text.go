package logging

import (
	"log/slog"
	"strconv"
)

// appendLine appends the line that slog's TextHandler would write for a record, in a third of its time. It returns
// false for a record that has more than numbers, durations, and texts of printable ASCII.
func appendLine(line []byte, r slog.Record) ([]byte, bool) {
	if r.Time.IsZero() || r.PC != 0 {
		return line, false
	}
	line = r.Time.AppendFormat(append(line, slog.TimeKey+"="...), milliseconds)
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
	quoted := text == ""
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~' || c == '"' || c == '\\':
			return line, false
		case c == ' ' || c == '=':
			quoted = true
		}
	}
	if quoted {
		return append(append(append(line, '"'), text...), '"'), true
	}
	return append(line, text...), true
}
