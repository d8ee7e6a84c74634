package server

import (
	"io"
	"log/slog"
)

// logHandler returns the handler of --logging-format.
func logHandler(format string, out io.Writer, level slog.Leveler) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	if format == jsonLog {
		return slog.NewJSONHandler(out, options)
	}
	return slog.NewTextHandler(out, options)
}

// The formats of the log.
const (
	textLog = "text"
	jsonLog = "json"
)
