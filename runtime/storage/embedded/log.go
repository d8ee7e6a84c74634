package embedded

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logger tells etcd's errors alone, on standard error.
func logger() *zap.Logger {
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(format), zapcore.Lock(os.Stderr), zapcore.ErrorLevel)
	return zap.New(quiet{core}).Named("etcd")
}

// harmless is an "error" of every first start: the schema version is to be updated before the first entry is on disk.
// etcd tries again by itself.
const harmless = "failed to update storage version"

// quiet is a core that leaves out what is harmless.
type quiet struct{ zapcore.Core }

func (q quiet) With(fields []zapcore.Field) zapcore.Core { return quiet{q.Core.With(fields)} }

func (q quiet) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == harmless {
		return checked
	}
	return q.Core.Check(entry, checked)
}
