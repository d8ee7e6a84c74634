package registry

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/typedclient"
	"apigen.dev/runtime/internal/verb"
	"apigen.dev/runtime/reach"
	"apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Provider holds the functions that serve a kind without storage: metrics, reviews, views of another system. A verb
// whose function is nil isn't served. The runtime may change the objects that the functions return. Clients get errors
// that are API statuses as they are, and others as 500. The runtime refuses a write whose object it can't render in the
// requested form before it calls the provider. Where it can't render the object that the provider returned, the client
// gets 500 although the write was done.
//
// Namespace is "" for cluster-scoped kinds and for reads across all namespaces.
type Provider[T api.Object] struct {
	// Get returns one object; an apierrors.NewNotFound if there is none.
	Get func(ctx context.Context, namespace, name string) (T, error)
	// List returns the objects that selection selects, or more: the runtime selects again, sorts by namespace and name,
	// and pages. A ResourceVersion that isn't empty is a number. The runtime ignores Continue and Remaining.
	List func(ctx context.Context, namespace string, selection api.Selection) (*List[T], error)
	// Watch begins a watch: after options.ResourceVersion, which List returned, or with all objects where that is "" or
	// 0. The runtime selects: an object that begins or stops to match is ADDED or DELETED. It decides that by the
	// event's Old or, if there is none, by the events before. A resumed watch assumes that the client has an object
	// of which it saw no event: the client may get DELETED for an object that it doesn't have, and never keeps one that
	// no longer matches.
	Watch func(ctx context.Context, namespace string, options api.WatchOptions) (ObjectWatch[T], error)
	// Create answers a POST, for example with a completed review. obj has defaults and is valid; it may have no name.
	// Where the client sent a generateName, obj has a generated name, and apierrors.NewAlreadyExists asks for another
	// one. A dry run must not change anything elsewhere.
	Create func(ctx context.Context, obj T, dryRun bool) (T, error)
	// Update replaces old, which Get returned, with obj, which is valid, and returns the new object. On an
	// apierrors.NewConflict the runtime reads again and tries again. A dry run must not change anything elsewhere.
	// Patches and applies are updates, too; if there is also a Create, an apply may create the object. Field
	// ownership is in metadata.managedFields: where a provider doesn't keep them, applies never conflict and never
	// remove fields of an earlier apply. Update needs Get.
	Update func(ctx context.Context, obj, old T, dryRun bool) (T, error)
	// Delete deletes obj, which Get or List returned and which meets the preconditions in options; options also has the
	// dry run. It returns nil, or the object as it is where the deletion completes only later. Delete needs Get; with
	// List, the runtime also deletes collections.
	Delete func(ctx context.Context, obj T, options *metav1.DeleteOptions) (T, error)
}

// List is a page of typed objects, as a Provider returns it.
type List[T api.Object] struct {
	Items           []T
	ResourceVersion string
	Continue        string
	Remaining       *int64
}

// WatchEvent is a change of a typed object, as a Provider returns it. The object of a bookmark has only metadata.
type WatchEvent[T api.Object] struct {
	Type   api.EventType
	Object T
	// Old is the object before the change, where the Provider knows it.
	Old T
}

// ObjectWatch is a watch of typed objects. It has one reader.
type ObjectWatch[T api.Object] interface {
	// Next waits for events. An error ends the watch.
	Next(ctx context.Context) ([]WatchEvent[T], error)
	Close()
}

// NewProvided is New for a kind without storage, which a provider serves. It ignores the definition's Storage and
// Subresources, and what the Strategy says about generations, graceful deletion and dependents. The provider sets UIDs
// and creation times.
func NewProvided[T api.Object](definition Definition[T], provider Provider[T]) Resource {
	if len(definition.Versions) > 0 {
		definition.Storage = definition.Versions[0].Info.Name
	}
	definition.Subresources, definition.Verbs = nil, provider.verbs()
	d, info := describe(definition)
	info.Storage = ""
	return &provided[T]{definition: d, info: info, provider: provider}
}

type provided[T api.Object] struct {
	definition *Definition[T]
	info       *verb.Info
	provider   Provider[T]
}

func (r *provided[T]) Info() *verb.Info { return r.info }

// Open implements Resource. The config's backend isn't used.
func (r *provided[T]) Open(_ context.Context, config Config) (verb.Handle, error) {
	alone := &sharing[T]{stored: r.definition, info: r.info}
	all, err := alone.bind()
	if err == nil && len(r.info.Verbs) == 0 {
		err = errors.New("the Provider has no functions")
	}
	if err == nil {
		err = r.provider.check()
	}
	if err != nil {
		return nil, wrongDefinition(r.info, err)
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
		return nil, wrongDefinition(r.info, err)
	}
	return h, nil
}

type providerHandle[T api.Object] struct {
	*kind[T]
	provided *providerEnd[T]
	// closed is done once the handle is.
	closed context.Context
	close  context.CancelFunc
}

// AddObjects implements typedclient.Reached.
func (h *providerHandle[T]) AddObjects(to *reach.Resources) error {
	return reach.Add[T](to, typedclient.Client[T]{Resource: h, Versions: h.versions, New: h.versions.NewHub,
		Form: verb.Form{Version: h.definition.Storage, Shape: verb.Whole}})
}

func (h *providerHandle[T]) Ready() error { return nil }

func (h *providerHandle[T]) Close() error { h.close(); return nil }

func (h *providerHandle[T]) host() subresource.Host[T] {
	object := func(ctx context.Context, namespace, name, _ string) (T, error) {
		return h.provided.get(ctx, namespace, name)
	}
	return subresource.Host[T]{Info: h.info, Object: object, Admission: h.admission}
}

func (p *Provider[T]) verbs() []string {
	writes, deletes := p.Update != nil && p.Get != nil, p.Delete != nil && p.Get != nil
	verbs := []string{}
	for _, v := range []struct {
		name string
		has  bool
	}{
		{"create", p.Create != nil}, {"delete", deletes}, {"deletecollection", p.Delete != nil && p.List != nil},
		{"get", p.Get != nil},
		{"list", p.List != nil}, {"patch", writes}, {"update", writes}, {"watch", p.Watch != nil},
	} {
		if v.has {
			verbs = append(verbs, v.name)
		}
	}
	return verbs
}

// check refuses a provider that lacks a function which another one needs.
func (p *Provider[T]) check() error {
	switch {
	case p.Update != nil && p.Get == nil:
		return fmt.Errorf("the Provider has Update and no Get, of which it needs the object as it is")
	case p.Delete != nil && p.Get == nil && p.List == nil:
		return fmt.Errorf("the Provider has Delete and no Get, of which it needs the object as it is")
	}
	return nil
}
