package registry

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Provider answers for a kind that nothing is stored of: metrics, reviews, views of another system. A verb whose
// function is nil isn't served. Objects that it returns are the runtime's from then on. Errors that are API statuses
// reach the client as they are, others as 500. A write whose object can't be shown in the form that was asked for is
// refused before the provider hears of it; where only what the provider returns can't be, the client is told 500 of
// what was done.
//
// Namespace is "" for cluster-scoped kinds and for reads across all namespaces.
type Provider[T api.Object] struct {
	// Get returns one object; an apierrors.NewNotFound where there is none.
	Get func(ctx context.Context, namespace, name string) (T, error)
	// List returns what selection selects, or more: the runtime selects again, sorts by namespace and name, and pages.
	// An empty ResourceVersion is none, any other a number; Continue and Remaining are not looked at.
	List func(ctx context.Context, namespace string, selection api.Selection) (*List[T], error)
	// Watch begins a watch: behind options.ResourceVersion, which a List told, or with the state where that is "" or 0.
	// The runtime selects: what begins or ends to be selected is ADDED or DELETED. It goes by an event's Old or, where
	// there is none, by what the watch told before; what a resumed watch can't know of an object it takes for told, so
	// that a client may be told of the end of what it doesn't have, and never keeps what has ended.
	Watch func(ctx context.Context, namespace string, options api.WatchOptions) (ObjectWatch[T], error)
	// Create answers what was posted: a review, filled in. obj has defaults and is valid by its rules; it needs no
	// name. Where it came with a generateName it has one made of it, and an apierrors.NewAlreadyExists asks for
	// another. In a dry run nothing may change elsewhere.
	Create func(ctx context.Context, obj T, dryRun bool) (T, error)
	// Update puts obj, which is valid, into the place of old, which Get returned, and returns what is there then. An
	// apierrors.NewConflict says that it was another one by now: the write is tried again. In a dry run nothing may
	// change elsewhere. With it objects are also patched, and applied; with Create, too, also where there is none. Who
	// owns which field is in metadata.managedFields: a provider that doesn't keep them has no conflicts between those
	// who apply, and nothing is removed that was applied before. It needs Get.
	Update func(ctx context.Context, obj, old T, dryRun bool) (T, error)
	// Delete deletes obj, which Get or List returned and which meets the preconditions in options; options also tell a
	// dry run. It returns nil, or the object as it is where it is going to be gone only later. It needs Get; with List,
	// too, collections are deleted.
	Delete func(ctx context.Context, obj T, options *metav1.DeleteOptions) (T, error)
}

// ObjectWatch is a watch of typed objects, with one reader: what a Watch is, before objects are rendered.
type ObjectWatch[T api.Object] interface {
	// Next waits for events. An error ends the watch.
	Next(ctx context.Context) ([]WatchEvent[T], error)
	Close()
}

// NewVirtual is New for a kind without storage. Of the definition, Storage and Subresources don't count, nor of a Strategy
// what concerns generations, graceful deletion and dependents. The provider sets UIDs and creation times.
func NewVirtual[T api.Object](definition Definition[T], provider Provider[T]) Resource {
	if len(definition.Versions) > 0 {
		definition.Storage = definition.Versions[0].Info.Name
	}
	definition.Subresources = nil
	d, info := describe(definition)
	info.Storage, info.Verbs = "", provider.verbs()
	return &virtual[T]{definition: d, info: info, provider: provider}
}

// virtual is a resource without storage.
type virtual[T api.Object] struct {
	definition *Definition[T]
	info       *api.Info
	provider   Provider[T]
}

func (r *virtual[T]) Info() *api.Info { return r.info }

// Open implements Resource. The config's backend isn't used.
func (r *virtual[T]) Open(_ context.Context, config Config) (Handle, error) {
	all, err := checkDefinition(r.definition)
	if err == nil && len(r.info.Verbs) == 0 {
		err = errors.New("the Provider has no functions")
	}
	if err == nil {
		err = r.provider.check()
	}
	if err != nil {
		return nil, fmt.Errorf("the definition of %s: %w", r.info.GroupResource(), err)
	}
	k := newKind(r.definition, r.info, all, config)
	if r.provider.Update == nil {
		k.fieldManagers = nil // no later write could come into conflict with a field's owner
	}
	end := &providerEnd[T]{kind: k, provider: r.provider}
	k.end = end
	h := &providerHandle[T]{kind: k, provided: end}
	h.closed, h.close = context.WithCancel(context.Background())
	if k.extensions, err = subresource.Open(r.definition.Extensions, h.host()); err != nil {
		h.close()
		return nil, fmt.Errorf("the definition of %s: %w", r.info.GroupResource(), err)
	}
	return h, nil
}

// providerHandle is an open resource without storage.
type providerHandle[T api.Object] struct {
	*kind[T]
	provided *providerEnd[T]
	// closed is done once the handle is.
	closed context.Context
	close  context.CancelFunc
}

// Ready implements Handle.
func (h *providerHandle[T]) Ready() error { return nil }

// Close implements Handle.
func (h *providerHandle[T]) Close() error { h.close(); return nil }

// host is the handle as extensions see it.
func (h *providerHandle[T]) host() subresource.Host[T] {
	return subresource.Host[T]{Info: h.info, Object: func(ctx context.Context, namespace, name, _ string) (T, error) {
		return h.provided.get(ctx, namespace, name)
	}}
}

// verbs are those that are served.
func (p *Provider[T]) verbs() []string {
	writes, deletes := p.Update != nil && p.Get != nil, p.Delete != nil && p.Get != nil
	verbs := []string{}
	for _, v := range []struct {
		name string
		has  bool
	}{
		{"create", p.Create != nil}, {"delete", deletes}, {"deletecollection", p.Delete != nil && p.List != nil}, {"get", p.Get != nil},
		{"list", p.List != nil}, {"patch", writes}, {"update", writes}, {"watch", p.Watch != nil},
	} {
		if v.has {
			verbs = append(verbs, v.name)
		}
	}
	return verbs
}

// check tells what a provider lacks for what it has.
func (p *Provider[T]) check() error {
	switch {
	case p.Update != nil && p.Get == nil:
		return fmt.Errorf("the Provider has Update and no Get, of which it needs the object as it is")
	case p.Delete != nil && p.Get == nil && p.List == nil:
		return fmt.Errorf("the Provider has Delete and no Get, of which it needs the object as it is")
	}
	return nil
}
