package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/reach"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const (
	// atOnce is how many namespaces are worked on at once, on each side: in the server itself, and in each group of
	// other servers.
	atOnce = 8
	// patience is how long a look at a namespace waits for a group of another server. The look ends without an answer
	// then, and says so in the conditions of the namespace.
	patience = 30 * time.Second
)

// slots bounds work by what it is on. The zero value is ready.
type slots struct {
	mu   sync.Mutex // guards free
	free map[string]chan struct{}
}

// errBusy is why a group wasn't asked.
var errBusy = errors.New("it didn't answer in time about other namespaces")

// take waits for a slot, and returns what gives it back.
func (s *slots) take(ctx context.Context, group string) (release func(), err error) {
	s.mu.Lock()
	if s.free == nil {
		s.free = map[string]chan struct{}{}
	}
	slot := s.free[group]
	if slot == nil {
		slot = make(chan struct{}, atOnce)
		s.free[group] = slot
	}
	s.mu.Unlock()
	select {
	case slot <- struct{}{}:
		return func() { <-slot }, nil
	case <-ctx.Done():
		return nil, errBusy
	}
}

// deleteContent deletes what is in a namespace, and returns what is left.
func (e *emptier) deleteContent(ctx context.Context, namespace string) (*content, error) {
	left := &content{objects: map[string]int64{}, finalizers: map[string]int64{}}
	catalog, err := reach.CatalogFrom(ctx)
	if err != nil {
		return left, err
	}
	for _, version := range catalog.Unknown() {
		left.unknown = append(left.unknown, fmt.Sprintf("%s: stale GroupVersion discovery: %[1]s", version))
	}
	own, remote := divide(catalog.Resources())
	var working sync.WaitGroup
	for group, resources := range remote {
		working.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			e.emptyGroup(ctx, left, catalog, "/"+group, resources, namespace)
		})
	}
	e.emptyGroup(ctx, left, catalog, "", own, namespace)
	working.Wait()
	return left, ctx.Err()
}

// divide returns the resources that can be emptied: those of the server itself, and those of other servers by their
// groups.
func divide(all []reach.Resource) (own []reach.Resource, remote map[string][]reach.Resource) {
	remote = map[string][]reach.Resource{}
	for _, r := range all {
		switch {
		case !r.Namespaced || !r.SameAs.Empty() || !slices.Contains(r.Verbs, "delete") ||
			!slices.Contains(r.Verbs, "list"):
		case r.Remote:
			remote[r.Group] = append(remote[r.Group], r)
		default:
			own = append(own, r)
		}
	}
	return own, remote
}

// emptyGroup deletes the objects of resources. Once ctx has ended, the rest fails as the first one did.
func (e *emptier) emptyGroup(
	ctx context.Context, left *content, catalog reach.Catalog, slot string, resources []reach.Resource,
	namespace string,
) {
	release, err := e.slots.take(ctx, slot)
	if err == nil {
		defer release()
	}
	for _, r := range resources {
		if err == nil {
			err = left.empty(ctx, catalog, r, namespace)
		}
		if err != nil {
			left.fail(r, err)
		}
		if ctx.Err() == nil {
			err = nil
		}
	}
}

// fail notes why the objects of a resource couldn't be deleted.
func (c *content) fail(r reach.Resource, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := err.Error()
	if r.Remote {
		text = fmt.Sprintf("the server of %s: %s", r.GroupResource, text)
	}
	c.failures = append(c.failures, shortened(text))
}

// empty deletes the objects of one resource.
func (c *content) empty(ctx context.Context, catalog reach.Catalog, r reach.Resource, namespace string) error {
	count, err := catalog.Count(ctx, r.GroupResource, namespace)
	if err != nil || count == 0 {
		return err
	}
	background := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{PropagationPolicy: &background}
	if err := catalog.DeleteAll(ctx, r.GroupResource, namespace, options); err != nil {
		return err
	}
	count, finalizers, err := catalog.Finalizers(ctx, r.GroupResource, namespace)
	if err != nil || count == 0 {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.objects[r.Resource+"."+r.Group] = count
	for name, n := range finalizers {
		c.finalizers[name] += n
	}
	return nil
}
