package registry

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/ownership"
	"apigen.dev/runtime/store"
	"apigen.dev/runtime/subresource"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is an open resource as its pipeline knows it, whether it ends in storage or in a provider.
type kind[T api.Object] struct {
	definition *Definition[T]
	info       *api.Info
	versions   *codec.Versions[T]
	gr         schema.GroupResource
	gk         schema.GroupKind
	pipeline   *pipeline[T]
	end        end[T]
	// absent is the state of every object that is to be created.
	absent store.State[T]
	// initialize sets what the end decides of a new object's metadata; nil where that is a provider's to decide.
	initialize func(obj T)
	// fieldManagers are made at the first write; the function is nil where nobody keeps who owns which field.
	fieldManagers func() (*fieldManagers[T], error)
	schemas       *ownership.Schemas
	extensions    map[string]*subresource.Handle
	log           *slog.Logger
	// logged is when it was last logged that field ownership could not be found out.
	logged atomic.Int64
}

// newKind makes a kind, still without its end.
func newKind[T api.Object](d *Definition[T], info *api.Info, all *codec.Versions[T], config Config) *kind[T] {
	k := &kind[T]{
		definition: d, info: info, versions: all, schemas: config.Schemas, log: config.Log,
		gr: info.GroupResource(), gk: schema.GroupKind{Group: d.Group, Kind: d.Names.Kind}, pipeline: newPipeline[T](),
	}
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	k.fieldManagers = sync.OnceValues(func() (*fieldManagers[T], error) { return newFieldManagers(d, all, config.Schemas) })
	return k
}

// Info implements Handle.
func (k *kind[T]) Info() *api.Info { return k.info }

// Extension implements Handle.
func (k *kind[T]) Extension(name string) *subresource.Handle { return k.extensions[name] }

// checkVerb refuses a verb that is not served.
func (k *kind[T]) checkVerb(verb string) error {
	if k.info.Verbs == nil || slices.Contains(k.info.Verbs, verb) {
		return nil
	}
	return apierrors.NewMethodNotSupported(k.gr, verb)
}

// checkPath refuses a name or a namespace that no object can have.
func (k *kind[T]) checkPath(namespace, name string) error {
	if name == "" {
		return apierrors.NewBadRequest("Name parameter required.")
	}
	if messages := content.IsPathSegmentName(name); len(messages) > 0 {
		return apierrors.NewBadRequest(fmt.Sprintf("Name parameter invalid: %q: %s", name, strings.Join(messages, ";")))
	}
	switch {
	case k.info.Scope == api.Cluster:
		return nil
	case namespace == "":
		return apierrors.NewBadRequest("Namespace parameter required.")
	}
	return checkNamespace(namespace)
}

// checkNamespace refuses what would lead elsewhere than to a namespace. Of other names that no namespace can have there
// is nothing.
func checkNamespace(namespace string) error {
	if namespace == "." || namespace == ".." || strings.Contains(namespace, "/") {
		return apierrors.NewBadRequest(fmt.Sprintf("Namespace parameter invalid: %q: it is no segment of a path", namespace))
	}
	return nil
}

// deletionResource names the kind in messages on deletions: clients know the kind's name there, and no resource's.
func (k *kind[T]) deletionResource() schema.GroupResource {
	return schema.GroupResource{Group: k.gk.Group, Resource: k.gk.Kind}
}

// internal is a 500 for a fault of the server's; an API status stays as it is.
func internal(err error) error { return apierrors.NewInternalError(err) }
