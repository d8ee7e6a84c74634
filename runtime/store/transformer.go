package store

import (
	"bytes"
	"context"
	"errors"
	"time"

	"apigen.dev/runtime/wire"
)

// Transformer is what values pass on their way to the backend and back: encryption at rest. Its methods are safe for
// concurrent use; key is the value's full key in the backend, so that a value can be bound to its place.
type Transformer interface {
	// Open returns what Seal was given. stale tells that Seal would write something else today (with another key): the
	// next write of the object, also one that changes nothing, then writes it. stored must not be changed. An error
	// poisons this one object, and must say what can't be opened without repeating it; key is told beside it.
	Open(key string, stored []byte) (plain []byte, stale bool, err error)
	// Seal returns the value to store. It must not change plain.
	Seal(key string, plain []byte) ([]byte, error)
}

// Changing is implemented by Transformers that may open tomorrow what they don't today. OnChange calls f after each
// change, until cancel is called; f is quick.
type Changing interface {
	OnChange(f func()) (cancel func())
}

// open is config.Transformer's Open; without one, all is stored as it is. What is Kubernetes protobuf comes as JSON,
// and is stale.
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

func (c *Config[T]) seal(key string, plain []byte) ([]byte, error) {
	if c.Transformer == nil {
		return plain, nil
	}
	return c.Transformer.Seal(key, plain)
}

// put seals a stored form and writes it. An error other than the backend's own means that nothing was sent.
func (s *Store[T]) put(ctx context.Context, key string, data []byte, expect int64, ttl time.Duration) (int64, error) {
	if s.config.BeforeWrite != nil {
		if err := s.config.BeforeWrite(ctx); err != nil {
			return 0, err
		}
	}
	value, err := s.config.seal(key, data)
	if err != nil {
		return 0, err
	}
	return s.backend.Put(ctx, key, value, expect, ttl)
}

var errKeysChanged = errors.New("values that could not be opened may be readable now")

// followTransformer has the cache look again at what it could not read, whenever the transformer has changed.
func (s *Store[T]) followTransformer() {
	changing, ok := s.config.Transformer.(Changing)
	if !ok || s.cache == nil {
		return
	}
	s.unfollow = changing.OnChange(func() { s.spawn(s.reread) })
}

// reread restarts the cache where it holds what could not be read. All that was decoded before the change is in its
// snapshot once that has reached a revision which was asked for after it.
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
