package store

import (
	"bytes"
	"context"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/rendition"
	"apigen.dev/runtime/storage"
)

// State is the state of an object that an optimistic write reads. A Writer may change and keep it.
type State[T api.Object] struct {
	// Object is the object with its resourceVersion; an empty one where it doesn't exist.
	Object   T
	Exists   bool
	Revision int64
	// Data is the stored form, as the store would write it today.
	Data []byte
	// stale tells that the backend has another form than Data: an older version, older defaults, an older key.
	stale bool
	// fresh tells that this write read the state from the backend: it is no guess.
	fresh bool
}

func (s *Store[T]) read(ctx context.Context, key string) (*State[T], error) {
	kv, _, err := s.backend.Get(ctx, key, storage.GetOptions{})
	if err != nil {
		return nil, err
	}
	return s.stateOf(key, kv)
}

// stateOf decodes a value of the backend; nil is absent. Writes fail for a corrupt value, too: only DeleteCorrupt
// removes one.
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

// stateOfCaller returns the state of the caller's guess, or nil where the caller has none.
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
