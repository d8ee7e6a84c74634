package node

import (
	"cmp"
	"context"
	"slices"

	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// stream tells the changes of the objects of one kind to both authorizers: to Kubernetes' as an informer, one by one,
// and to ours as Objects, several at once.
type stream[T metav1.Object] struct {
	cache.SharedIndexInformer
	reach.Objects[T]
	// all are the objects, sorted; touched are those that ours hasn't heard of.
	all, touched []T
	handler      cache.ResourceEventHandler
	changes      chan reach.Changes[T]
}

func newStream[T metav1.Object]() *stream[T] { return &stream[T]{changes: make(chan reach.Changes[T])} }

// AddEventHandler implements cache.SharedIndexInformer.
func (s *stream[T]) AddEventHandler(
	handler cache.ResourceEventHandler,
) (cache.ResourceEventHandlerRegistration, error) {
	s.handler = handler
	return synced{}, nil
}

// synced is the registration of a handler that has all objects.
type synced struct{}

func (synced) HasSynced() bool { return true }

func (synced) HasSyncedChecker() cache.DoneChecker { return synced{} }

func (synced) Name() string { return "" }

func (synced) Done() <-chan struct{} {
	done := make(chan struct{})
	close(done)
	return done
}

// Follow implements reach.Objects.
func (s *stream[T]) Follow(ctx context.Context, _ string, changes func(reach.Changes[T])) error {
	for {
		select {
		case c := <-s.changes:
			changes(c)
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func compare[T metav1.Object](a, b T) int {
	return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), cmp.Compare(a.GetName(), b.GetName()))
}

// find returns the object with the name of another one.
func (s *stream[T]) find(named T) (found T, ok bool) {
	i, ok := slices.BinarySearchFunc(s.all, named, compare[T])
	if ok {
		found = s.all[i]
	}
	return found, ok
}

// put creates an object, or changes the object of its name.
func (s *stream[T]) put(o T) {
	i, found := slices.BinarySearchFunc(s.all, o, compare[T])
	if found {
		s.handler.OnUpdate(s.all[i], o)
		s.all[i] = o
	} else {
		s.handler.OnAdd(o, false)
		s.all = slices.Insert(s.all, i, o)
	}
	s.touched = append(s.touched, o)
}

// remove deletes the object with the name of another one. An informer may have missed the deletion itself.
func (s *stream[T]) remove(named T, missed bool) {
	i, found := slices.BinarySearchFunc(s.all, named, compare[T])
	if !found {
		return
	}
	if missed {
		s.handler.OnDelete(cache.DeletedFinalStateUnknown{Obj: s.all[i]})
	} else {
		s.handler.OnDelete(s.all[i])
	}
	s.all = slices.Delete(s.all, i, i+1)
	s.touched = append(s.touched, named)
}

// replace deletes the object of a name, and creates another one.
func (s *stream[T]) replace(o T) {
	s.remove(o, false)
	s.put(o)
}

// flush tells ours what has changed, or all anew.
func (s *stream[T]) flush(reset bool) {
	c := reach.Changes[T]{Reset: reset}
	slices.SortFunc(s.touched, compare[T])
	for _, o := range slices.CompactFunc(s.touched, func(a, b T) bool { return compare(a, b) == 0 }) {
		if now, ok := s.find(o); ok {
			c.Put = append(c.Put, now)
		} else {
			c.Deleted = append(c.Deleted, o)
		}
	}
	if reset {
		c.Put, c.Deleted = slices.Clone(s.all), nil
	}
	s.touched = nil
	s.changes <- c
	s.changes <- reach.Changes[T]{} // taken once the graph has the first
}
