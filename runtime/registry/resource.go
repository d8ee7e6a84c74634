package registry

import (
	"context"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/store"
	"apigen.dev/runtime/subresource"
	"k8s.io/apimachinery/pkg/runtime"
)

// Group is an API group as generated wiring hands it to a server.
type Group struct {
	Name string
	// Versions of the group, in order of priority.
	Versions []string
	// Resources are made by New, or NewVirtual, one for each kind.
	Resources []Resource
	// AddToScheme registers the group's Go types, for clients and codecs that want a Scheme.
	AddToScheme func(*runtime.Scheme) error
	// OpenAPI holds, for each version, its OpenAPI v3 document, with paths and components.
	OpenAPI map[string]api.Document
	// Swagger is the OpenAPI v2 document of all versions.
	Swagger api.Document
}

// Resource is a resource whose Go type has been erased: static, not yet bound to a backend. New makes it.
type Resource interface {
	Info() *api.Info
	// Open binds the resource to a backend, which it asks what is stored, as long as ctx lasts. The returned handle
	// owns goroutines until it is closed, whatever becomes of ctx.
	Open(ctx context.Context, config Config) (Handle, error)
}

// Handle is an open resource: what HTTP sees of it. Errors are apimachinery's API statuses (apierrors.APIStatus).
//
// Namespace is "" for cluster-scoped resources and for reads across all namespaces.
type Handle interface {
	Info() *api.Info
	View
	Write
	// Extension returns one of Info.Extensions by its name, nil where there is none.
	Extension(name string) *subresource.Handle
	// Ready is nil once reads are served from memory, else the reason why not.
	Ready() error
	// Close ends all watches and waits for the handle's goroutines.
	Close() error
}

// View is reading.
type View interface {
	// Get returns one object. resourceVersion is as in metav1.GetOptions.
	Get(ctx context.Context, namespace, name, resourceVersion string, form api.Form) (api.Rendition, error)
	// List returns one page, all of one revision. The page must be closed.
	List(ctx context.Context, namespace string, opts api.ListOptions, form api.Form) (*api.Page, error)
	// Watch returns a stream of events.
	Watch(ctx context.Context, namespace string, opts api.WatchOptions, form api.Form) (api.Watch, error)
}

// Write is writing. Subresource is "" for the object itself.
type Write interface {
	Create(ctx context.Context, namespace string, body api.Body, opts api.WriteOptions) (api.Result, error)
	Update(ctx context.Context, namespace, name, subresource string, body api.Body, opts api.WriteOptions) (api.Result, error)
	Patch(ctx context.Context, namespace, name, subresource string, kind api.PatchType, body api.Body, opts api.WriteOptions) (api.Result, error)
	Delete(ctx context.Context, namespace, name string, opts api.DeleteOptions) (api.Deletion, error)
	// DeleteCollection deletes what list selects, and returns what it deleted, as a Page without more behind it.
	DeleteCollection(ctx context.Context, namespace string, opts api.DeleteOptions, list api.ListOptions) (*api.Page, error)
}

// Measured is a Handle that can be measured. Those of New can.
type Measured interface {
	Measure(ctx context.Context) store.Measurement
}
