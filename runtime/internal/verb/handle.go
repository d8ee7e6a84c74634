package verb

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"slices"

	"apigen.dev/runtime/api"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Handle is an open resource. Its errors are API statuses (apierrors.APIStatus).
//
// Namespace is "" for cluster-scoped resources and for reads across all namespaces.
type Handle interface {
	Info() *Info
	View
	Write
	// ToJSON renders in JSON what is a rendition of the form, in protobuf.
	ToJSON(object Rendition, form Form) (Rendition, error)
	// Extension returns one of Info.Extensions by its name, nil if there is none.
	Extension(name string) *ExtensionHandle
	// Ready returns nil once the cache serves reads, else the reason why it doesn't.
	Ready() error
	// Close ends all watches and waits for the handle's goroutines.
	Close() error
}

// View has the methods that read.
type View interface {
	// Get returns one object. resourceVersion is as in metav1.GetOptions.
	Get(ctx context.Context, namespace, name, resourceVersion string, form Form) (Rendition, error)
	// List returns one page, all of one revision. The caller must close it.
	List(ctx context.Context, namespace string, opts ListOptions, form Form) (*Page, error)
	// Watch returns a stream of events.
	Watch(ctx context.Context, namespace string, opts api.WatchOptions, form Form) (Watch, error)
}

// Write has the methods that write. A subresource of "" is the object itself.
type Write interface {
	Create(ctx context.Context, namespace string, body Body, opts WriteOptions) (Result, error)
	Update(ctx context.Context, namespace, name, subresource string, body Body,
		opts WriteOptions) (Result, error)
	Patch(ctx context.Context, namespace, name, subresource string, kind PatchType, body Body,
		opts WriteOptions) (Result, error)
	Delete(ctx context.Context, namespace, name string, opts DeleteOptions) (Deletion, error)
	// DeleteCollection deletes the objects that list selects, and returns a page of those that it deleted.
	DeleteCollection(ctx context.Context, namespace string, opts DeleteOptions, list ListOptions) (*Page,
		error)
}

// Stored is implemented by the handles of stored kinds.
type Stored interface {
	// StoredForm returns the form of stored objects. Reads in it cost least; other forms are rendered from it.
	StoredForm() Form
}

// ExtensionHandle is an open Extension. It has the functions of its form; the others are nil. Errors are API statuses,
// and those that the author's functions return.
type ExtensionHandle struct {
	Get    func(ctx context.Context, namespace, name, resourceVersion string, form Form) (Rendition, error)
	Update func(ctx context.Context, namespace, name string, body Body,
		opts WriteOptions) (Result, error)
	Patch func(ctx context.Context, namespace, name string, kind PatchType, body Body,
		opts WriteOptions) (Result, error)
	Create func(ctx context.Context, namespace, name string, body Body,
		opts WriteOptions) (Result, error)
	// View is a Get with options.
	View func(ctx context.Context, namespace, name string, query url.Values, form Form) (Rendition, error)
	// Stream returns the output, which its reader must close.
	Stream func(ctx context.Context, namespace, name string, query url.Values) (Output, error)
	// Connect returns the author's handler, which serves the connection.
	Connect func(ctx context.Context, namespace, name string, query url.Values) (http.Handler, error)
	// ToJSON renders an answer in JSON that is in protobuf, in a form. It is set where answers are objects.
	ToJSON func(answer Rendition, form Form) (Rendition, error)
}

// Output is the output of a stream.
type Output struct {
	io.ReadCloser
	ContentType string
}

// Distinct returns one resource for each store, the one that is stored if it is among all. A caller that visits the
// objects of all resources then visits each object once.
func Distinct[R interface{ Info() *Info }](all []R) []R {
	chosen := map[schema.GroupResource]*Info{}
	for _, r := range all {
		name := r.Info().Stored().GroupResource()
		if chosen[name] == nil || r.Info().SameAs == nil {
			chosen[name] = r.Info()
		}
	}
	return slices.DeleteFunc(slices.Clone(all), func(r R) bool {
		return chosen[r.Info().Stored().GroupResource()] != r.Info()
	})
}
