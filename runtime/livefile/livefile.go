// Package livefile holds values that a server makes of files, such as certificates and configurations, and makes them
// anew when the files change. It imports nothing of ours.
package livefile

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// interval is the shortest time between two readings of the files.
const interval = time.Second

// Value is a value that is made of the contents of files. It is safe for concurrent use, and starts no goroutine: Get
// reads the files.
type Value[T any] struct {
	paths []string
	parse func(contents [][]byte) (T, error)
	log   *slog.Logger
	now   func() time.Time

	current atomic.Pointer[T]
	read    atomic.Int64 // when the files were read, in nanoseconds from a fixed time

	mu       sync.Mutex // guards the following field, and is held while files are read
	contents [][]byte   // those that were parsed last, with or without an error
}

// Open reads the files and parses their contents, which are in the order of the paths. parse must not change them.
func Open[T any](log *slog.Logger, parse func(contents [][]byte) (T, error), paths ...string) (*Value[T], error) {
	v := &Value[T]{paths: paths, parse: parse, log: log, now: time.Now}
	contents, err := v.readAll()
	if err != nil {
		return nil, err
	}
	value, err := parse(contents)
	if err != nil {
		return nil, err
	}
	v.contents = contents
	v.current.Store(&value)
	v.read.Store(v.now().UnixNano())
	return v, nil
}

// Get returns the value of the files as they were within the last second. If they can't be read or parsed, Get logs the
// error once for each change and returns the last good value.
func (v *Value[T]) Get() T {
	if v.now().UnixNano()-v.read.Load() >= int64(interval) && v.mu.TryLock() {
		v.reload()
		v.mu.Unlock()
	}
	return *v.current.Load()
}

func (v *Value[T]) reload() {
	defer func() { v.read.Store(v.now().UnixNano()) }()
	contents, err := v.readAll()
	if err != nil {
		if v.contents != nil {
			v.log.Error("a file could not be read again, the previous content stays in use", "error", err)
			v.contents = nil
		}
		return
	}
	if equal(contents, v.contents) {
		return
	}
	v.contents = contents
	value, err := v.parse(contents)
	if err != nil {
		v.log.Error("a changed file is wrong, the previous content stays in use", "files", v.paths, "error", err)
		return
	}
	v.current.Store(&value)
	v.log.Info("a changed file was read", "files", v.paths)
}

func (v *Value[T]) readAll() ([][]byte, error) {
	contents := make([][]byte, 0, len(v.paths))
	for _, path := range v.paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("reading a file: %w", err)
		}
		contents = append(contents, content)
	}
	return contents, nil
}

// equal tells whether two contents are the same. nil, which is that of files that could not be read, equals nothing.
func equal(a, b [][]byte) bool {
	if len(a) != len(b) || b == nil {
		return false
	}
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}
