package typedclient

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// firstPause and lastPause bound how long a Follow waits before it begins anew.
const (
	firstPause = 10 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Follow implements reach.Objects.
func (r Client[T]) Follow(ctx context.Context, namespace string, changes func(reach.Changes[T])) error {
	for pause := firstPause; ; pause = min(pause*2, lastPause) {
		began := time.Now()
		err := r.follow(ctx, namespace, changes)
		switch closed := errors.Is(err, context.Canceled); {
		case ctx.Err() != nil:
			return ctx.Err()
		case closed || apierrors.IsMethodNotSupported(err) || apierrors.IsNotFound(err):
			return err
		case time.Since(began) > lastPause:
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// follow tells all objects and then their changes, until the watch ends. Its error is never nil.
func (r Client[T]) follow(ctx context.Context, namespace string, changes func(reach.Changes[T])) error {
	batch := batch[T]{client: r}
	var options api.WatchOptions
	if r.Stored {
		// The watch begins with all objects, and a bookmark after them.
		options, batch.state = api.WatchOptions{AllowBookmarks: true, Corrupt: true}, true
	} else if err := r.listed(ctx, namespace, &options, changes); err != nil {
		return err
	}
	w, err := r.Resource.Watch(ctx, namespace, options, r.Form)
	if err != nil {
		return err
	}
	defer w.Close()
	for {
		events, err := w.Next(ctx)
		for i := range events {
			batch.add(&events[i])
		}
		if told, ok := batch.take(w); ok {
			changes(told)
		}
		if err != nil {
			return err
		}
	}
}

// listed tells the objects of a kind without storage, and has a watch begin after them.
func (r Client[T]) listed(
	ctx context.Context, namespace string, options *api.WatchOptions, changes func(reach.Changes[T]),
) error {
	page, err := r.Resource.List(ctx, namespace, verb.ListOptions{}, r.Form)
	if err != nil {
		return err
	}
	defer page.Close()
	all := reach.Changes[T]{Reset: true}
	for rendition := range page.Items {
		obj, err := r.object(rendition)
		if err != nil {
			return err
		}
		all.Put = append(all.Put, obj)
	}
	options.ResourceVersion = page.ResourceVersion
	// What is not a number is not a revision.
	all.Revision, _ = strconv.ParseInt(page.ResourceVersion, 10, 64)
	changes(all)
	return nil
}

// batch collects events up to a call of a Follow's function: the last one of each object.
type batch[T api.Object] struct {
	client Client[T]
	// state reports whether the events are the state with which the watch begins, which isn't complete yet.
	state, reset bool
	order        []objectName
	last         map[objectName]change[T]
}

type objectName struct{ namespace, name string }

type change[T api.Object] struct {
	object T
	gone   bool
}

// add adds an event. An object that can't be read counts as deleted.
func (b *batch[T]) add(event *verb.Event) {
	if event.Type == api.Bookmark {
		b.reset, b.state = b.reset || b.state, false
		return
	}
	gone := event.Type == api.Deleted || event.Type == api.Corrupt
	obj, err := b.client.object(event.Object)
	if err != nil {
		gone, obj = true, b.client.New()
		setName(obj, event.Object)
	}
	name := objectName{obj.GetNamespace(), obj.GetName()}
	if b.last == nil {
		b.last = map[objectName]change[T]{}
	}
	if _, known := b.last[name]; !known {
		b.order = append(b.order, name)
	}
	b.last[name] = change[T]{obj, gone}
}

// setName gives an object the namespace and the name that a rendition has, if that has them.
func setName(obj metav1.Object, r verb.Rendition) {
	var named metav1.PartialObjectMetadata
	partial, err := rendition.MetadataIn(verb.JSON, r, verb.Metadata)
	if err == nil && json.Unmarshal(rendition.Whole(partial), &named) == nil {
		obj.SetNamespace(named.Namespace)
		obj.SetName(named.Name)
	}
}

// take returns the changes that the batch has collected, and false if there are none to tell yet.
func (b *batch[T]) take(w verb.Watch) (reach.Changes[T], bool) {
	if b.state || !b.reset && len(b.order) == 0 {
		return reach.Changes[T]{}, false
	}
	told := reach.Changes[T]{Reset: b.reset}
	for _, name := range b.order {
		switch last := b.last[name]; {
		case !last.gone:
			told.Put = append(told.Put, last.object)
		case !b.reset:
			told.Deleted = append(told.Deleted, last.object)
		}
	}
	if pace, ok := w.(verb.Paced); ok {
		told.Revision = pace.Revision()
	}
	*b = batch[T]{client: b.client}
	return told, true
}
