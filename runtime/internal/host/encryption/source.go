package encryption

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

	mu        sync.Mutex // guards the following fields, and orders reloads
	hash      [sha256.Size]byte
	listeners map[*func()]bool
}

// Load reads a file. "" means no file: all values are stored as they are, and encrypted ones can't be read.
func Load(path string) (*Source, error) {
	s := &Source{path: path, listeners: map[*func()]bool{}}
	s.keys.Store(&Keys{})
	if path == "" {
		return s, nil
	}
	_, err := s.Reload()
	return s, err
}

// Keys returns the configuration as it was last read.
func (s *Source) Keys() *Keys { return s.keys.Load() }

// Reload reads the file again, and uses the new configuration where the content has changed. An error in the file
// leaves the configuration as it was. Reload reports whether the configuration changed.
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

// Follow reloads the file at every tick until ctx ends. It logs a changed configuration or the reason why it can't be
// used, and calls taken with a changed configuration.
func (s *Source) Follow(ctx context.Context, ticks <-chan time.Time, log *slog.Logger, taken func(*Keys)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
		switch changed, err := s.Reload(); {
		case err != nil:
			log.Error("the encryption configuration could not be reloaded, the previous one stays in use", "file",
				s.path, "error", err)
		case changed:
			log.Info("the encryption configuration was reloaded", "file", s.path)
			taken(s.Keys())
		}
	}
}

// For returns the Transformer of a resource, which follows each reload.
func (s *Source) For(gr schema.GroupResource) *Transformer {
	return &Transformer{source: s, resource: gr}
}

// Transformer opens and seals the values of one resource; see Chain.
type Transformer struct {
	source   *Source
	resource schema.GroupResource
}

// Open is Chain.Open with the present configuration.
func (t *Transformer) Open(key string, stored []byte) (plain []byte, stale bool, err error) {
	return t.source.Keys().For(t.resource).Open(key, stored)
}

// Seal is Chain.Seal with the present configuration.
func (t *Transformer) Seal(key string, plain []byte) ([]byte, error) {
	return t.source.Keys().For(t.resource).Seal(key, plain)
}

// OnChange calls f after each reload that changed the configuration, one call at a time, until cancel is called. f must
// be quick and must not reload.
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
