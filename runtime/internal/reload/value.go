package reload

import (
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// oftenest is the shortest time between two readings of a Value's files.
const oftenest = time.Second

// Value is a value of files that is read again when it is used, without a goroutine that follows the files. It is safe
// for concurrent use.
type Value[T any] struct {
	log *slog.Logger
	now func() time.Time

	current atomic.Pointer[T]
	read    atomic.Int64 // when the files were read, in nanoseconds from a fixed time

	mu    sync.Mutex // held while files are read
	files *Files[T]
}

// Open reads files, and makes a value of their contents by parse, as New does.
func Open[T any](log *slog.Logger, parse func(contents [][]byte) (T, error), paths ...string) (*Value[T], error) {
	files, err := New(parse, paths...)
	if err != nil {
		return nil, err
	}
	v := &Value[T]{log: log, now: time.Now, files: files}
	v.set()
	return v, nil
}

// Get returns the value of the files as they were within the last second. If they can't be read or parsed, Get logs the
// error and returns the last good value.
func (v *Value[T]) Get() T {
	if v.due() && v.mu.TryLock() {
		defer v.mu.Unlock()
		changed, err := v.files.Reload()
		paths := strings.Join(v.files.Paths(), ", ")
		if err != nil {
			v.log.Error("files could not be reloaded, the previous content stays in use", "files", paths, "error", err)
		}
		if changed {
			v.log.Info("files were reloaded", "files", paths)
		}
		v.set()
	}
	return *v.current.Load()
}

// due reports whether the files were read too long ago. A clock that was set back doesn't keep the server from them.
func (v *Value[T]) due() bool {
	age := time.Duration(v.now().UnixNano() - v.read.Load())
	return age >= oftenest || age < 0
}

// Observe is Files.Observe.
func (v *Value[T]) Observe(observer func(error)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.files.Observe(observer)
}

func (v *Value[T]) set() {
	value := v.files.Value()
	v.current.Store(&value)
	v.read.Store(v.now().UnixNano())
}
