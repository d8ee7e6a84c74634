package store

import (
	"bytes"
	"context"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/storage"
)

// State is an object as an optimistic write finds it. A writer may change and keep it.
type State[T api.Object] struct {
	// Object is the object with its resourceVersion; empty where it is absent. It belongs to the writer that gets the
	// state.
	Object   T
	Exists   bool
	Revision int64
	// Data is its stored form, as the store would write it today.
	Data []byte
	// stale tells that the backend holds another form than Data: an older version, older defaults, an older key.
	stale bool
	// fresh tells what was read from the backend for this write from a guess that the cache made.
	fresh bool
}

// read is the state in the backend.
func (s *Store[T]) read(ctx context.Context, key string) (*State[T], error) {
	kv, _, err := s.backend.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return nil, err
	}
	return s.stateOf(key, kv)
}

// stateOf makes a state of what the backend returned; nil is absent. A value that can't be decoded can't be written
// over or deleted either: that takes an option of its own, since it may break what relies on it.
func (s *Store[T]) stateOf(key string, kv *storage.KeyValue) (*State[T], error) {
	if kv == nil {
		return &State[T]{fresh: true}, nil
	}
	plain, stale, err := s.config.open(key, kv.Value)
	if err != nil {
		return nil, corruptError(key, err)
	}
	obj, err := s.config.Decode(plain)
	if err != nil {
		return nil, corruptError(key, err)
	}
	obj.SetSelfLink("")
	data, err := s.Encode(obj)
	if err != nil {
		return nil, corruptError(key, err)
	}
	obj.SetResourceVersion(strconv.FormatInt(kv.Revision, 10))
	stale = stale || !bytes.Equal(bytes.TrimRight(plain, "\n"), data[:len(data)-1])
	return &State[T]{Object: obj, Exists: true, Revision: kv.Revision, Data: data, stale: stale, fresh: true}, nil
}

// guess is the state that the cache has, or nil.
func (s *Store[T]) guess(key string) *State[T] {
	if s.cache == nil {
		return nil
	}
	snapshot, err := s.cache.Current()
	if err != nil {
		return nil
	}
	entry := snapshot.Get(key)
	if entry == nil || entry.Err() != nil {
		return nil
	}
	rendered, err := entry.Rendition(s.stored)
	if err != nil {
		return nil
	}
	data := rendition.StoredForm(rendered)
	obj, err := s.config.Decode(data)
	if err != nil {
		return nil
	}
	obj.SetResourceVersion(strconv.FormatInt(entry.Revision(), 10))
	return &State[T]{Object: obj, Exists: true, Revision: entry.Revision(), Data: data, stale: entry.Stale()}
}

// stateOfCaller is the state that a caller believes an object to be in; nil where the caller has none.
func (s *Store[T]) stateOfCaller(obj T) *State[T] {
	var none T
	if any(obj) == any(none) {
		return nil
	}
	revision, err := ParseVersion(obj.GetResourceVersion())
	if err != nil || revision == 0 {
		return nil
	}
	own := obj.DeepCopyObject().(T)
	data, err := s.Encode(own)
	if err != nil {
		return nil
	}
	return &State[T]{Object: own, Exists: true, Revision: revision, Data: data}
}
