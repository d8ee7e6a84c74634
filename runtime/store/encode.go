package store

import (
	"bytes"
	"fmt"
	"strconv"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/cache"
	"apigen.dev/runtime/rendition"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// encodeCopy encodes a copy of an object, which the caller of the store may share with readers.
func (s *Store[T]) encodeCopy(obj T) ([]byte, error) { return s.Encode(obj.DeepCopyObject().(T)) }

// Encode returns the stored form of an object: without resourceVersion and selfLink, and with a newline. It resets both
// fields of obj and sets them again, so no other goroutine may read obj.
func (s *Store[T]) Encode(obj T) ([]byte, error) {
	version, link := obj.GetResourceVersion(), obj.GetSelfLink()
	obj.SetResourceVersion("")
	obj.SetSelfLink("")
	data, err := s.config.Encode(obj)
	obj.SetResourceVersion(version)
	obj.SetSelfLink(link)
	if err != nil {
		return nil, err
	}
	return append(bytes.TrimRight(data, "\n"), '\n'), nil
}

// Decode decodes a stored form, and sets the resourceVersion to a revision, unless that is 0.
func (s *Store[T]) Decode(data []byte, revision int64) (T, error) {
	obj, err := s.config.Decode(data)
	if err != nil {
		return obj, apierrors.NewInternalError(fmt.Errorf("what was written can't be read: %w", err))
	}
	if revision > 0 {
		obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	}
	return obj, nil
}

// Object decodes a rendition in the stored form. The zero value decodes to an empty object.
func (s *Store[T]) Object(r api.Rendition) (T, error) {
	if r.Payload == nil {
		return s.config.New(), nil
	}
	obj, err := s.config.Decode(rendition.Whole(r))
	if err != nil {
		return obj, apierrors.NewInternalError(err)
	}
	return obj, nil
}

// Selects tells whether a selector selects an object.
func (s *Store[T]) Selects(sel *Selector, obj T) bool {
	if sel.Empty() {
		return true
	}
	codec := cacheCodec[T]{config: &s.config}
	return sel.Matches(labels.Set(obj.GetLabels()), &record{Record: cache.Record{Fields: codec.fields(obj)}})
}

func (s *Store[T]) plainBookmark(revision int64, initialEnd bool, _ api.Form) (api.Rendition, error) {
	obj := s.config.New()
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	if initialEnd {
		obj.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
	}
	data, err := s.config.Encode(obj)
	if err != nil {
		return api.Rendition{}, err
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
	obj, err := c.config.Decode(plain)
	if err != nil {
		return cache.Record{}, err
	}
	obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	obj.SetSelfLink("")
	data, err := c.config.Encode(obj)
	if err != nil {
		return cache.Record{}, err
	}
	rendered, err := rendition.New(data, c.config.Head)
	if err != nil {
		return cache.Record{}, err
	}
	return cache.Record{
		Rendition: rendered, Labels: obj.GetLabels(), Fields: c.fields(obj), Stale: stale ||
			!rendition.IsStoredForm(rendered, plain),
	}, nil
}

func (c *cacheCodec[T]) fields(obj T) []string {
	values := make([]string, FirstSelectable, FirstSelectable+len(c.config.Fields))
	values[NameField], values[NamespaceField] = obj.GetName(), obj.GetNamespace()
	for _, f := range c.config.Fields {
		values = append(values, f.Value(obj))
	}
	return values
}

func (c *cacheCodec[T]) Render(key string, stored api.Rendition, form api.Form) (api.Rendition, error) {
	if form == c.config.Form {
		return stored, nil
	}
	if c.config.Render == nil {
		return api.Rendition{}, fmt.Errorf("there is no form %v of %s", form, key)
	}
	return c.config.Render(stored, form)
}

// Join implements cache.Codec for forms in JSON.
func (c *cacheCodec[T]) Join(list []byte, r *api.Rendition, form api.Form) []byte {
	list = append(list, ",{"...)
	if form.Shape != api.Whole {
		list = append(list, r.Head...)
	}
	return append(list, r.Payload...)
}

func (c *cacheCodec[T]) Restamp(r api.Rendition, revision int64) api.Rendition {
	return rendition.Restamp(r, revision)
}
