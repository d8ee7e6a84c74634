package registry

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// GetOptions refine a Get of a Store.
type GetOptions struct {
	// ResourceVersion "" is a linearizable read, "0" what there is at hand, a number what is not older.
	ResourceVersion string
	// IgnoreNotFound returns an empty object where there is none.
	IgnoreNotFound bool
}

// List is a page of typed objects.
type List[T api.Object] struct {
	Items           []T // never nil
	ResourceVersion string
	Continue        string
	Remaining       *int64
}

// CommitOptions refine an Update or a Delete of a Store.
type CommitOptions[T api.Object] struct {
	// Preconditions are checked against each state that the write is tried on.
	Preconditions *metav1.Preconditions
	// IgnoreNotFound lets an Update begin with an empty object, and create it.
	IgnoreNotFound bool
	// Guess, where it is set, is what the caller believes the object to be: a shortcut, never trusted. The store only
	// reads it, so several writes may share one.
	Guess T
}

// WatchEvent is a change of a typed object. A bookmark's object has metadata only.
type WatchEvent[T api.Object] struct {
	Type   EventType
	Object T
	// Old is the object before the change, where a Provider knows it.
	Old T
}

// Create writes an object that must not exist; ttl 0 is for ever. The result carries the revision.
func (s *Store[T]) Create(ctx context.Context, key string, obj T, ttl time.Duration) (T, error) {
	var none T
	full, err := s.key(key)
	if err != nil {
		return none, err
	}
	if isVersioned(obj) {
		return none, errVersionOnCreate()
	}
	data, err := s.encodeCopy(obj)
	if err != nil {
		return none, apierrors.NewInternalError(err)
	}
	revision, err := s.insert(ctx, full, obj.GetName(), data, ttl, false)
	if err != nil {
		return none, s.status(err, "create", obj.GetName())
	}
	return s.typed(data, revision)
}

// isVersioned tells whether an object says that it was read from somewhere. Zero says nothing.
func isVersioned(obj api.Object) bool {
	version := obj.GetResourceVersion()
	return version != "" && version != "0"
}

func errVersionOnCreate() error {
	return apierrors.NewBadRequest("resourceVersion should not be set on objects to be created")
}

// Get reads one object.
func (s *Store[T]) Get(ctx context.Context, key string, opts GetOptions) (T, error) {
	var none T
	full, err := s.key(key)
	if err != nil {
		return none, err
	}
	rendition, err := s.getRendition(ctx, full, nameOf(key), opts.ResourceVersion, s.stored)
	if apierrors.IsNotFound(err) && opts.IgnoreNotFound {
		return s.config.New(), nil
	}
	if err != nil {
		return none, err
	}
	return s.fromRendition(rendition)
}

// List reads one page of the objects below prefix.
func (s *Store[T]) List(ctx context.Context, prefix string, opts ListOptions) (*List[T], error) {
	full, err := s.listPrefix(prefix)
	if err != nil {
		return nil, err
	}
	page, err := s.list(ctx, full, opts, s.stored)
	if err != nil {
		return nil, s.status(err, "list", "")
	}
	defer page.Close()
	list := &List[T]{
		Items: make([]T, 0, page.Len), ResourceVersion: page.ResourceVersion, Continue: page.Continue, Remaining: page.Remaining,
	}
	for rendition := range page.Items {
		obj, err := s.fromRendition(rendition)
		if err != nil {
			return nil, err
		}
		list.Items = append(list.Items, obj)
	}
	return list, nil
}

// Update brings an object from the state that try is given to the one that it returns. try is called again where the
// state turned out to be out of date; its errors are returned as they are. The duration is the new TTL, 0 for ever, or
// storage.KeepTTL. What equals the stored form isn't written, and keeps its TTL.
func (s *Store[T]) Update(ctx context.Context, key string, opts CommitOptions[T], try func(current T) (T, time.Duration, error)) (T, error) {
	var none T
	full, err := s.key(key)
	if err != nil {
		return none, err
	}
	name := nameOf(key)
	out, err := s.commit(ctx, full, s.guessOf(opts.Guess), false, func(st *state[T]) (p plan[T], err error) {
		if !st.exists {
			if !opts.IgnoreNotFound {
				return p, apierrors.NewNotFound(s.gr, name)
			}
			st.obj = s.config.New()
		}
		if err := checkPreconditions(s.gr, name, opts.Preconditions, st.obj); err != nil {
			return p, err
		}
		obj, ttl, err := try(st.obj)
		if err != nil {
			return p, passed{err}
		}
		p.ttl = ttl
		p.data, err = s.encodeCopy(obj)
		return p, err
	})
	if err != nil {
		return none, s.callerError(err, "update", name)
	}
	return s.typed(out.data, out.revision)
}

// Delete removes an object that passes validate (nil: any), and returns its last state with the revision of the removal.
func (s *Store[T]) Delete(ctx context.Context, key string, opts CommitOptions[T], validate func(current T) error) (T, error) {
	var none T
	full, err := s.key(key)
	if err != nil {
		return none, err
	}
	name := nameOf(key)
	out, err := s.commit(ctx, full, s.guessOf(opts.Guess), false, func(st *state[T]) (p plan[T], err error) {
		if !st.exists {
			return p, apierrors.NewNotFound(s.gr, name)
		}
		if err := checkPreconditions(s.gr, name, opts.Preconditions, st.obj); err != nil {
			return p, err
		}
		if validate != nil {
			if err := validate(st.obj); err != nil {
				return p, passed{err}
			}
		}
		return plan[T]{verb: remove, data: st.data}, nil
	})
	if err != nil {
		return none, s.callerError(err, "delete", name)
	}
	return s.typed(out.data, out.revision)
}

// passed is an error of a caller's function, on its way through commit untouched.
type passed struct{ error }

// callerError maps errors of storage, and gives those of a caller's function back.
func (s *Store[T]) callerError(err error, verb, name string) error {
	var p passed
	if errors.As(err, &p) {
		return p.error
	}
	return s.status(err, verb, name)
}

func (s *Store[T]) guessOf(obj T) *state[T] {
	var none T
	if any(obj) == any(none) {
		return nil
	}
	revision, err := parseVersion(obj.GetResourceVersion())
	if err != nil || revision == 0 {
		return nil
	}
	own := obj.DeepCopyObject().(T)
	data, err := s.encode(own)
	if err != nil {
		return nil
	}
	return &state[T]{obj: own, exists: true, revision: revision, data: data}
}

// TypedWatch is a watch of a Store, with one reader.
type TypedWatch[T api.Object] struct {
	s *Store[T]
	w *watch
}

// Watch watches the objects below prefix, or the one object whose key it is where it doesn't end in "/".
func (s *Store[T]) Watch(ctx context.Context, prefix string, opts WatchOptions) (*TypedWatch[T], error) {
	full, err := s.key(prefix)
	if err != nil {
		return nil, err
	}
	w, err := s.watch(ctx, full, opts, s.stored)
	if err != nil {
		return nil, err
	}
	return &TypedWatch[T]{s: s, w: w}, nil
}

// Next is that of a Watch, with typed events; it allocates them anew.
func (t *TypedWatch[T]) Next(ctx context.Context) ([]WatchEvent[T], error) {
	events, err := t.w.Next(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]WatchEvent[T], len(events))
	for i, e := range events {
		obj, err := t.s.fromRendition(e.Object)
		if err != nil {
			return nil, err
		}
		out[i] = WatchEvent[T]{Type: e.Type, Object: obj}
	}
	return out, nil
}

// Close ends the watch.
func (t *TypedWatch[T]) Close() { t.w.Close() }

// typed makes an object of its stored form.
func (s *Store[T]) typed(data []byte, revision int64) (T, error) {
	obj, err := s.config.Decode(data)
	if err != nil {
		return obj, apierrors.NewInternalError(fmt.Errorf("what was written can't be read: %w", err))
	}
	if revision > 0 {
		obj.SetResourceVersion(strconv.FormatInt(revision, 10))
	}
	return obj, nil
}

func (s *Store[T]) fromRendition(r api.Rendition) (T, error) {
	obj, err := s.config.Decode(whole(r))
	if err != nil {
		return obj, apierrors.NewInternalError(err)
	}
	return obj, nil
}

func nameOf(key string) string { return key[strings.LastIndexByte(key, '/')+1:] }

// checkPreconditions is 409 where the object isn't the one that was meant.
func checkPreconditions[T api.Object](gr schema.GroupResource, name string, p *metav1.Preconditions, obj T) error {
	if p == nil {
		return nil
	}
	if p.UID != nil && *p.UID != obj.GetUID() {
		return apierrors.NewConflict(gr, name, fmt.Errorf("the UID in the precondition (%s) does not match the UID in record (%s). "+
			"The object might have been deleted and then recreated", *p.UID, obj.GetUID()))
	}
	if p.ResourceVersion != nil && *p.ResourceVersion != obj.GetResourceVersion() {
		return apierrors.NewConflict(gr, name, fmt.Errorf("the ResourceVersion in the precondition (%s) does not match the ResourceVersion "+
			"in record (%s). The object might have been modified", *p.ResourceVersion, obj.GetResourceVersion()))
	}
	return nil
}
