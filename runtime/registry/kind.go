package registry

import (
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/api"
	"apigen.dev/runtime/codec"
	"apigen.dev/runtime/internal/object/ownership"
	"apigen.dev/runtime/internal/state/store"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kind is an open resource without its end: what stored kinds and provided kinds have in common.
type kind[T api.Object] struct {
	definition *Definition[T]
	info       *verb.Info
	versions   *codec.Versions[T]
	gr         schema.GroupResource
	gk         schema.GroupKind // of the stored resource: errors of validation name it, as in kube-apiserver
	pipeline   *pipeline[T]
	end        end[T]
	scopes     scopes[T]
	// absent is the state of every object that is to be created.
	absent store.State[T]
	// initialize sets the UID and times of a new object; nil if a provider sets them.
	initialize func(obj T)
	// fieldManagers returns the managers, which the first write makes; nil if the kind has no field ownership.
	fieldManagers func() (*fieldManagers[T], error)
	schemas       *ownership.Schemas
	extensions    map[string]*verb.ExtensionHandle
	// admission has the plug-ins; nil has none. forms are those that they see of the objects.
	admission *admission.Chain
	forms     []admission.Form
	log       *slog.Logger
	// logged is when logOwnership last wrote, in seconds.
	logged atomic.Int64
}

func newKind[T api.Object](d *Definition[T], info *verb.Info, all *codec.Versions[T], config Config) *kind[T] {
	if config.Schemas == nil {
		config.Schemas = &ownership.Schemas{}
	}
	k := &kind[T]{
		definition: d, info: info, versions: all, schemas: config.Schemas, log: config.Log,
		gr: info.GroupResource(), pipeline: newPipeline[T](), admission: config.Admission, forms: formsOf(all, info),
		gk: schema.GroupKind{Group: info.Stored().Group, Kind: info.Stored().Names.Kind},
	}
	k.scopes = k.newScopes()
	if k.log == nil {
		k.log = slog.New(slog.DiscardHandler)
	}
	k.fieldManagers = sync.OnceValues(func() (*fieldManagers[T], error) {
		return newFieldManagers(d, all, config.Schemas)
	})
	return k
}

func (k *kind[T]) Info() *verb.Info { return k.info }

func (k *kind[T]) ToJSON(object verb.Rendition, form verb.Form) (verb.Rendition, error) {
	return k.versions.ToJSON(object, form)
}

func (k *kind[T]) Extension(name string) *verb.ExtensionHandle { return k.extensions[name] }

// checkVerb refuses a verb that the provider of a kind has no function for. A stored kind has all verbs here: the
// endpoint refuses those that clients may not use.
func (k *kind[T]) checkVerb(verb string) error {
	if k.info.Storage != "" || k.info.Has(verb) {
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

// checkNamespace refuses a namespace whose keys would be outside those of namespaces. Other invalid names are harmless:
// no object is in such a namespace.
func checkNamespace(namespace string) error {
	if namespace == "." || namespace == ".." || strings.Contains(namespace, "/") {
		return apierrors.NewBadRequest(fmt.Sprintf("Namespace parameter invalid: %q: it is no segment of a path",
			namespace))
	}
	return nil
}

// deletionResource returns how errors of deletions name the resource: as in kube-apiserver, by its kind.
func (k *kind[T]) deletionResource() schema.GroupResource {
	return schema.GroupResource{Group: k.gk.Group, Resource: k.gk.Kind}
}

// internal returns an error as an internal one; nil stays nil.
func internal(err error) error {
	if err == nil || apierrors.IsInternalError(err) {
		return err
	}
	return apierrors.NewInternalError(err)
}
