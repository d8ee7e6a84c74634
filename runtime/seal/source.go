package seal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Source is a configuration in a file, which may be read again while it is used. It is safe for concurrent use.
type Source struct {
	path string
	keys atomic.Pointer[Keys]

	mu        sync.Mutex // guards what follows, and orders reloads
	hash      [sha256.Size]byte
	listeners map[*func()]bool
}

// Load reads a file. "" is no file: all values are stored as they are, and encrypted ones can't be read.
func Load(path string) (*Source, error) {
	s := &Source{path: path, listeners: map[*func()]bool{}}
	s.keys.Store(&Keys{})
	if path == "" {
		return s, nil
	}
	_, err := s.Reload()
	return s, err
}

// Keys is the configuration as it was last read.
func (s *Source) Keys() *Keys { return s.keys.Load() }

// Reload reads the file again, and takes what it says where its content has changed; what is wrong in it leaves the
// configuration as it was. It tells whether anything was taken.
func (s *Source) Reload() (changed bool, err error) {
	if s.path == "" {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	data, err := os.ReadFile(s.path)
	if err != nil {
		return false, err
	}
	hash := sha256.Sum256(data)
	if hash == s.hash {
		return false, nil
	}
	keys, err := Parse(data)
	if err != nil {
		return false, fmt.Errorf("%s: %w", s.path, err)
	}
	s.keys.Store(keys)
	s.hash = hash
	for f := range s.listeners {
		(*f)()
	}
	return true, nil
}

// Follow reads the file again at every tick until ctx ends; it tells log that it took it, or why it could not, and calls
// taken with what it took.
func (s *Source) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger, taken func(*Keys)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		switch changed, err := s.Reload(); {
		case err != nil:
			log.Error("the encryption configuration can't be read again, the one before stays", "file", s.path, "error", err)
		case changed:
			log.Info("the encryption configuration was read again", "file", s.path)
			taken(s.Keys())
		}
	}
}

// For returns what the configuration means to a resource, now and after each reload.
func (s *Source) For(gr schema.GroupResource) *Transformer {
	return &Transformer{source: s, resource: gr}
}

// Transformer opens and seals the values of one resource; see Chain.
type Transformer struct {
	source   *Source
	resource schema.GroupResource
}

// Open is Chain.Open of the configuration of this moment.
func (t *Transformer) Open(key string, stored []byte) (plain []byte, stale bool, err error) {
	return t.source.Keys().For(t.resource).Open(key, stored)
}

// Seal is Chain.Seal of the configuration of this moment.
func (t *Transformer) Seal(key string, plain []byte) ([]byte, error) {
	return t.source.Keys().For(t.resource).Seal(key, plain)
}

// OnChange calls f after each reload that changed anything, one call at a time, until cancel is called. f must be quick
// and must not reload.
func (t *Transformer) OnChange(f func()) (cancel func()) {
	s := t.source
	s.mu.Lock()
	defer s.mu.Unlock()
	s.listeners[&f] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.listeners, &f)
	}
}
