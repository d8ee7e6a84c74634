package reach

import (
	"context"
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Resource is a resource that the server serves.
type Resource struct {
	schema.GroupResource
	Kind string
	// Versions are the served versions, the preferred one first.
	Versions   []string
	Namespaced bool
	// Verbs are those that clients may use, in kube-apiserver's words.
	Verbs []string
	// Stored reports whether the objects are in storage. SameAs is the resource of another group whose objects these
	// are; it is empty for most.
	Stored bool
	SameAs schema.GroupResource
	// Remote tells that another server serves the resource, behind this one. Its objects can be counted and deleted.
	Remote bool
}

// Catalog has all resources of a server, whatever their Go types. It is safe for concurrent use.
type Catalog interface {
	// Resources returns the resources that are served now.
	Resources() []Resource
	// Unknown returns the versions that other servers serve and that can't be asked now what they have.
	Unknown() []schema.GroupVersion
	// Objects returns the objects of a resource in a served version. It fails where the server doesn't serve it.
	Objects(schema.GroupVersionResource) (Objects[*unstructured.Unstructured], error)
	// OpenAPI returns the OpenAPI v3 document of a version, in JSON. It fails where the server has none.
	OpenAPI(schema.GroupVersion) ([]byte, error)
	// Count returns how many objects of a resource are in a namespace, "" for all, without reading them.
	Count(ctx context.Context, resource schema.GroupResource, namespace string) (int64, error)
	// Finalizers counts the objects of a resource in a namespace, and by its name each finalizer that they have. It
	// holds few of them in memory at once.
	Finalizers(ctx context.Context, resource schema.GroupResource, namespace string) (
		objects int64, finalizers map[string]int64, err error)
	// DeleteAll deletes the objects of a resource in a namespace, or marks them for deletion. It holds few of them in
	// memory at once.
	DeleteAll(ctx context.Context, resource schema.GroupResource, namespace string, options metav1.DeleteOptions) error
}

type catalogKey struct{}

// WithCatalog returns a context that gives access to a Catalog.
func WithCatalog(ctx context.Context, catalog Catalog) context.Context {
	return context.WithValue(ctx, catalogKey{}, catalog)
}

// CatalogFrom returns the Catalog of the server. It fails outside of requests and hooks.
func CatalogFrom(ctx context.Context) (Catalog, error) {
	if catalog, ok := ctx.Value(catalogKey{}).(Catalog); ok {
		return catalog, nil
	}
	return nil, errors.New("no server is reached here")
}

// FindKind returns the resource of a kind in a version, and false if the catalog has none.
func FindKind(catalog Catalog, gvk schema.GroupVersionKind) (Resource, bool) {
	for _, r := range catalog.Resources() {
		if r.Group != gvk.Group || r.Kind != gvk.Kind {
			continue
		}
		for _, version := range r.Versions {
			if version == gvk.Version {
				return r, true
			}
		}
	}
	return Resource{}, false
}
