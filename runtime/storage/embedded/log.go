package embedded

import (
	"os"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// logger tells etcd's errors alone, on standard error. What etcd would panic or exit for is starting's to decide.
func logger(starting *birth) *zap.Logger {
	format := zap.NewProductionEncoderConfig()
	format.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(format), zapcore.Lock(os.Stderr), zapcore.ErrorLevel)
	return zap.New(quiet{core, starting}, zap.WithPanicHook(starting), zap.WithFatalHook(starting)).Named("etcd")
}

// harmless is an "error" of every first start: the schema version is to be updated before the first entry is on disk.
// etcd tries again by itself.
const harmless = "failed to update storage version"

// quiet is a core that leaves out what is harmless, and what Open tells in its error.
type quiet struct {
	zapcore.Core
	starting *birth
}

func (q quiet) With(fields []zapcore.Field) zapcore.Core {
	return quiet{q.Core.With(fields), q.starting}
}

func (q quiet) Check(entry zapcore.Entry, checked *zapcore.CheckedEntry) *zapcore.CheckedEntry {
	if entry.Message == harmless || !q.starting.over.Load() {
		return checked
	}
	return q.Core.Check(entry, checked)
}
