package store

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/state/cache"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// encodeCopy encodes a copy of an object, which the caller of the store may share with readers.
func (s *Store[T]) encodeCopy(obj T) ([]byte, error) { return s.Encode(obj.DeepCopyObject().(T)) }

// Encode returns the stored form of an object: without resourceVersion, and in JSON with a newline. It resets the field
// of obj and sets it again, so no other goroutine may read obj.
func (s *Store[T]) Encode(obj T) ([]byte, error) {
	version := obj.GetResourceVersion()
	obj.SetResourceVersion("")
	data, err := s.config.Encode(obj)
	obj.SetResourceVersion(version)
	if err != nil {
		return nil, err
	}
	return rendition.Stored(data), nil
}

// Decode decodes a stored form, and sets the resourceVersion to a revision, unless that is 0.
func (s *Store[T]) Decode(data []byte, revision int64) (T, error) {
	obj, err := s.config.Decode(context.Background(), data)
	if err != nil {
		return obj, apierrors.NewInternalError(fmt.Errorf("what was written can't be read: %w", err))
	}
	if revision > 0 {
		obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	}
	return obj, nil
}

// Object decodes a rendition in the stored form. The zero value decodes to an empty object.
func (s *Store[T]) Object(r verb.Rendition) (T, error) {
	if r.Payload == nil {
		return s.config.New(), nil
	}
	obj, err := s.config.Decode(context.Background(), rendition.Whole(r))
	if err != nil {
		return obj, apierrors.NewInternalError(err)
	}
	return obj, nil
}

// Rendition returns a stored form in the form of the store, with the resourceVersion of a revision, unless that is 0.
func (s *Store[T]) Rendition(data []byte, revision int64) (verb.Rendition, error) {
	r, err := rendition.New(data, s.config.Head)
	if err == nil && revision > 0 {
		r = rendition.Stamp(r, revision)
	}
	return r, err
}

// Selects reports whether a selector selects an object.
func (s *Store[T]) Selects(sel *Selector, obj T) bool { return Selects(sel, obj, s.config.Fields) }

// Selects reports whether a selector selects an object with these selectable fields.
func Selects[T api.Object](sel *Selector, obj T, selectable []api.SelectableField[T]) bool {
	return sel.Empty() ||
		sel.Matches(labels.Set(obj.GetLabels()), &record{Record: cache.Record{Fields: fieldsOf(obj, selectable)}})
}

func fieldsOf[T api.Object](obj T, selectable []api.SelectableField[T]) []string {
	values := make([]string, FirstSelectable, FirstSelectable+len(selectable))
	values[NameField], values[NamespaceField] = obj.GetName(), obj.GetNamespace()
	for _, f := range selectable {
		values = append(values, f.Value(obj))
	}
	return values
}

func (s *Store[T]) plainBookmark(revision int64, initialEnd bool, _ verb.Form) (verb.Rendition, error) {
	obj := s.config.New()
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	if initialEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	data, err := s.config.Encode(obj)
	if err != nil {
		return verb.Rendition{}, err
	}
	return rendition.New(data, s.config.Head)
}

// cacheCodec makes renditions of stored values: the cache.Codec of a Store.
type cacheCodec[T api.Object] struct{ config *Config[T] }

// Decode implements cache.Codec. The record has the object as the store would write it today, with the resourceVersion.
func (c *cacheCodec[T]) Decode(key string, value []byte, revision int64) (cache.Record, error) {
	plain, stale, err := c.config.open(key, value)
	if err != nil {
		return cache.Record{}, err
	}
	obj, err := c.config.Decode(context.Background(), plain)
	if err != nil {
		return cache.Record{}, err
	}
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	data, err := c.config.Encode(obj)
	if err != nil {
		return cache.Record{}, err
	}
	rendered, err := rendition.New(data, c.config.Head)
	if err != nil {
		return cache.Record{}, err
	}
	return cache.Record{
		Rendition: rendered, Labels: obj.GetLabels(), Fields: fieldsOf(obj, c.config.Fields), Stale: stale ||
			!rendition.IsStoredForm(rendered, plain),
	}, nil
}

func (c *cacheCodec[T]) Render(key string, stored verb.Rendition, form verb.Form) (verb.Rendition, error) {
	if form == c.config.Stored {
		return stored, nil
	}
	if c.config.Render == nil {
		return verb.Rendition{}, fmt.Errorf("there is no form %v of %s", form, key)
	}
	return c.config.Render(stored, form)
}

// Join implements cache.Codec.
func (c *cacheCodec[T]) Join(list []byte, r *verb.Rendition, form verb.Form) []byte {
	return rendition.AppendItem(append(list, c.Separator(form)...), r, form, c.config.ItemHeads)
}

func (c *cacheCodec[T]) Separator(form verb.Form) string { return rendition.Separator(form.Encoding) }

func (c *cacheCodec[T]) AppendAge(row []byte, since, now time.Time) ([]byte, time.Time) {
	return rendition.AppendAge(row, since, now), rendition.AgeChanges(since, now)
}

func (c *cacheCodec[T]) Restamp(r verb.Rendition, revision int64) verb.Rendition {
	return rendition.Restamp(r, revision)
}

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

// open opens a value with the Transformer, if there is one.
func (c *Config[T]) open(key string, stored []byte) (plain []byte, stale bool, err error) {
	if c.Transformer == nil {
		return stored, false, nil
	}
	return c.Transformer.Open(key, stored)
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
	return s.Backend.Put(ctx, key, data, expect, ttl)
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
