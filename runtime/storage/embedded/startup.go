package embedded

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// startup is the time until etcd serves. During startup, etcd panics in one of its goroutines when it can't read its
// data; startup turns these panics into errors. After startup a panic ends the process: a server whose data is corrupt
// must not go on. A fatal error of etcd ends the process in any goroutine, with etcd's line in the log, since the
// server might recover from a panic in a request's goroutine.
type startup struct {
	done   atomic.Bool
	failed chan error
}

// OnWrite implements zapcore.CheckWriteHook. etcd has logged why it can't go on.
func (s *startup) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if s.done.Load() {
		if entry.Level == zapcore.FatalLevel {
			os.Exit(1) // etcd's line in the log has the reason, such as a full disk
		}
		panic(entry.Message)
	}
	reason := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(reason)
	}
	err := errors.New(entry.Message)
	if cause, ok := reason.Fields["error"]; ok {
		err = fmt.Errorf("%s: %v", entry.Message, cause)
	}
	s.fail(err)
	runtime.Goexit()
}

func (s *startup) fail(err error) {
	select {
	case s.failed <- err:
	default: // an earlier failure is recorded
	}
}

// start waits until etcd has started, a failure occurs, or ctx ends.
func (s *startup) start(ctx context.Context, config *embed.Config) (*embed.Etcd, error) {
	type result struct {
		server *embed.Etcd
		err    error
	}
	results := make(chan result, 1)
	go func() {
		defer func() {
			// etcd expects its log to be complete; if it isn't, etcd may panic without a reason.
			if reason := recover(); reason != nil {
				s.fail(fmt.Errorf("its data can't be used, restore a copy (etcd: %v)", reason))
			}
		}()
		server, err := embed.StartEtcd(config)
		results <- result{server, err}
	}()
	abandon := func(err error) (*embed.Etcd, error) {
		go func() {
			if r := <-results; r.err == nil {
				r.server.Close()
			}
		}()
		return nil, err
	}
	select {
	case r := <-results:
		return r.server, r.err
	case err := <-s.failed:
		return abandon(err)
	case <-ctx.Done():
		return abandon(ctx.Err())
	}
}

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
