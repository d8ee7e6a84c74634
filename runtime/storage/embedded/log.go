package embedded

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logger logs etcd's errors alone, on standard error. starting handles what makes etcd panic or exit.
func logger(starting *startup) *zap.Logger {
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(format), zapcore.Lock(os.Stderr), zapcore.ErrorLevel)
	return zap.New(quiet{core, starting}, zap.WithPanicHook(starting), zap.WithFatalHook(starting)).Named("etcd")
}

// harmless is an "error" of every first start: etcd tries to update the schema version before the first entry is on
// disk, and tries again by itself.
const harmless = "failed to update storage version"

// quiet is a core that drops harmless entries, and those that Open returns in its error.
type quiet struct {
	zapcore.Core
	starting *startup
}

func (q quiet) With(fields []zapcore.Field) zapcore.Core {
	return quiet{q.Core.With(fields), q.starting}
}

func (q quiet) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == harmless || !q.starting.done.Load() {
		return checked
	}
	return q.Core.Check(entry, checked)
}
