package embedded

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"

	"go.etcd.io/etcd/server/v3/embed"
	"go.uber.org/zap/zapcore"
)

// birth is the time until etcd serves. It makes errors of the panics with which etcd, in whatever goroutine, answers data
// that it can't read. Later they are what they are: a server whose data went bad must not go on. What etcd calls fatal ends
// the process with its line in the log, in whatever goroutine: a panic in that of a request might be recovered.
type birth struct {
	over   atomic.Bool
	failed chan error
}

func newBirth() *birth { return &birth{failed: make(chan error, 1)} }

func (b *birth) end() { b.over.Store(true) }

// OnWrite implements zapcore.CheckWriteHook: etcd has logged why it can't go on.
func (b *birth) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	if b.over.Load() {
		if entry.Level == zapcore.FatalLevel {
			os.Exit(1) // its line has the reason: a disk that is full, say
		}
		panic(entry.Message)
	}
	reason := zapcore.NewMapObjectEncoder()
	for _, field := range fields {
		field.AddTo(reason)
	}
	err := fmt.Errorf("%s", entry.Message)
	if cause, ok := reason.Fields["error"]; ok {
		err = fmt.Errorf("%s: %v", entry.Message, cause)
	}
	b.fail(err)
	runtime.Goexit()
}

// fail notes why etcd doesn't start: the first reason is it.
func (b *birth) fail(err error) {
	select {
	case b.failed <- err:
	default: // a failure follows another
	}
}

// start waits for etcd to start, for a failure, or for ctx, whatever comes first.
func (b *birth) start(ctx context.Context, config *embed.Config) (*embed.Etcd, error) {
	type result struct {
		server *embed.Etcd
		err    error
	}
	results := make(chan result, 1)
	go func() {
		defer func() {
			// It relies on its log being whole; where it is not, it may stumble instead of saying so.
			if reason := recover(); reason != nil {
				b.fail(fmt.Errorf("its data can't be used, restore a copy (etcd: %v)", reason))
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
	case err := <-b.failed:
		return abandon(err)
	case <-ctx.Done():
		return abandon(ctx.Err())
	}
}
