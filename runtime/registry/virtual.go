package registry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/store"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Provider answers for a kind that nothing is stored of: metrics, reviews, views of another system. A verb whose function
// is nil isn't served. Objects that it returns are the runtime's from then on. Errors that are API statuses reach the
// client as they are, others as 500. A write whose object can't be shown in the form that was asked for is refused before
// the provider hears of it; where only what the provider returns can't be, the client is told 500 of what was done.
//
// Namespace is "" for cluster-scoped kinds and for reads across all namespaces.
type Provider[T api.Object] struct {
	// Get returns one object; an apierrors.NewNotFound where there is none.
	Get func(ctx context.Context, namespace, name string) (T, error)
	// List returns what selection selects, or more: the runtime selects again, sorts by namespace and name, and pages. An
	// empty ResourceVersion is none, any other a number; Continue and Remaining are not looked at.
	List func(ctx context.Context, namespace string, selection api.Selection) (*List[T], error)
	// Watch begins a watch: behind options.ResourceVersion, which a List told, or with the state where that is "" or 0. The
	// runtime selects: what begins or ends to be selected is ADDED or DELETED. It goes by an event's Old or, where there is
	// none, by what the watch told before; what a resumed watch can't know of an object it takes for told, so that a client
	// may be told of the end of what it doesn't have, and never keeps what has ended.
	Watch func(ctx context.Context, namespace string, options api.WatchOptions) (ObjectWatch[T], error)
	// Create answers what was posted: a review, filled in. obj has defaults and is valid by its rules; it needs no name. Where
	// it came with a generateName it has one made of it, and an apierrors.NewAlreadyExists asks for another. In a dry run
	// nothing may change elsewhere.
	Create func(ctx context.Context, obj T, dryRun bool) (T, error)
	// Update puts obj, which is valid, into the place of old, which Get returned, and returns what is there then. An
	// apierrors.NewConflict says that it was another one by now: a patch is tried again. In a dry run nothing may change
	// elsewhere. With it objects are also patched, and applied; with Create, too, also where there is none. Who owns
	// which field is in metadata.managedFields: a provider that doesn't keep them has no conflicts between those who apply,
	// and nothing is removed that was applied before. It needs Get.
	Update func(ctx context.Context, obj, old T, dryRun bool) (T, error)
	// Delete deletes obj, which Get or List returned and which meets the preconditions in options; options also tell a dry
	// run. It returns nil, or the object as it is where it is going to be gone only later. It needs Get; with List, too,
	// collections are deleted.
	Delete func(ctx context.Context, obj T, options *metav1.DeleteOptions) (T, error)
}

// ObjectWatch is a watch of typed objects, with one reader: what a Watch is, before objects are rendered.
type ObjectWatch[T api.Object] interface {
	// Next waits for events. An error ends the watch.
	Next(ctx context.Context) ([]WatchEvent[T], error)
	Close()
}

// NewVirtual is New for a kind without storage. Of the definition, Storage and Subresources don't count, nor what a
// Strategy does beside Validate, ValidateUpdate, Warnings and ReturnDeletedObject.
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
	h := &virtualHandle[T]{virtual: r, versions: all}
	h.owners = sync.OnceValues(func() (*owners[T], error) { return newOwners(r.definition, all, config.Schemas) })
	h.closed, h.end = context.WithCancel(context.Background())
	if h.extensions, err = openExtensions(r.definition, host[T]{info: r.info, object: h.object}); err != nil {
		h.end()
		return nil, fmt.Errorf("the definition of %s: %w", r.info.GroupResource(), err)
	}
	return h, nil
}

// virtualHandle is an open virtual resource.
type virtualHandle[T api.Object] struct {
	*virtual[T]
	versions   *codec.Versions[T]
	extensions map[string]*ExtensionHandle
	// owners is made at the first write of what can be updated.
	owners func() (*owners[T], error)
	// closed is done once the handle is.
	closed context.Context
	end    context.CancelFunc
}

func (h *virtualHandle[T]) Extension(name string) *ExtensionHandle { return h.extensions[name] }
func (h *virtualHandle[T]) Ready() error                           { return nil }
func (h *virtualHandle[T]) Close() error                           { h.end(); return nil }

// unsupported is the answer to verbs that are not served.
func (h *virtualHandle[T]) unsupported(verb string) error {
	return apierrors.NewMethodNotSupported(h.info.GroupResource(), verb)
}

// status maps an error of the author's.
func (h *virtualHandle[T]) status(err error, verb, name string) error {
	return store.ToStatus(err, h.info.GroupResource(), verb, name)
}

// object reads one.
func (h *virtualHandle[T]) object(ctx context.Context, namespace, name string) (T, error) {
	var none T
	if h.provider.Get == nil {
		return none, h.unsupported("get")
	}
	if messages := content.IsPathSegmentName(name); len(messages) > 0 {
		return none, apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(messages, ";")))
	}
	obj, err := h.provider.Get(ctx, namespace, name)
	if err != nil {
		return none, h.status(err, "get", name)
	}
	if any(obj) == any(none) {
		return none, apierrors.NewNotFound(h.info.GroupResource(), name)
	}
	return obj, nil
}

// render writes an object in a form.
func (h *virtualHandle[T]) render(obj T, form api.Form) (api.Rendition, error) {
	v, err := h.versions.Lookup(form.Version)
	if err != nil {
		return api.Rendition{}, apierrors.NewInternalError(err)
	}
	return codec.RenderObject(v, obj, form)
}
