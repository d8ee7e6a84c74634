package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/wire"
)

// Transformer transforms values before they are stored and after they are read: encryption at rest. Its methods are
// safe for concurrent use. key is the full key in the backend, by which a value can be authenticated.
type Transformer interface {
	// Open returns the argument of Seal. stale tells that Seal would return something else today, for example with
	// another key; then the next write stores the object again, even if it changes nothing. Open must not change
	// stored. An error makes this one object corrupt; it must not contain the value.
	Open(key string, stored []byte) (plain []byte, stale bool, err error)
	// Seal returns the value to store. It must not change plain.
	Seal(key string, plain []byte) ([]byte, error)
}

// Changing is implemented by Transformers whose keys may change. OnChange calls f after each change until the caller
// calls cancel; f returns quickly.
type Changing interface {
	OnChange(f func()) (cancel func())
}

// open opens a value with the Transformer, where there is one, and translates Kubernetes protobuf to JSON.
func (c *Config[T]) open(key string, stored []byte) (plain []byte, stale bool, err error) {
	plain = stored
	if c.Transformer != nil {
		if plain, stale, err = c.Transformer.Open(key, stored); err != nil {
			return nil, false, err
		}
	}
	if !bytes.HasPrefix(plain, []byte(wire.Magic)) || c.Translate == nil {
		return plain, stale, nil
	}
	plain, err = c.Translate(plain)
	return plain, true, err
}

// put seals a stored form and writes it. After an error that isn't the backend's nothing was sent.
func (s *Store[T]) put(ctx context.Context, key string, data []byte, expect int64, ttl time.Duration) (int64, error) {
	if s.config.BeforeWrite != nil {
		if err := s.config.BeforeWrite(ctx); err != nil {
			return 0, err
		}
	}
	if s.config.Transformer != nil {
		var err error
		if data, err = s.config.Transformer.Seal(key, data); err != nil {
			return 0, err
		}
	}
	return s.backend.Put(ctx, key, data, expect, ttl)
}

var errKeysChanged = errors.New("values that could not be opened may be readable now")

// reread restarts the cache where that has corrupt objects. It first waits for the backend's current revision: then the
// snapshot has all values that were decoded before the change.
func (s *Store[T]) reread() {
	pause := time.NewTicker(100 * time.Millisecond)
	defer pause.Stop()
	for {
		snapshot, err := s.cache.Consistent(s.closed)
		if err == nil {
			if snapshot.Corrupt(s.prefix) != nil {
				s.cache.Restart(errKeysChanged)
			}
			return
		}
		select {
		case <-pause.C:
		case <-s.closed.Done():
			return
		}
	}
}
