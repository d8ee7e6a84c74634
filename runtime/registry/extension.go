package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"apigen.dev/runtime/api"
)

// Extension is a subresource that is no part of its object. ScaleOf, ActionOf, RemovalOf, RequestOf, ProjectionOf, StreamOf and
// ConnectionOf make it, and close over its types.
type Extension[T api.Object] struct {
	info api.Extension
	// describe, where set, completes info for the resource's group.
	describe func(info api.Extension, group string) api.Extension
	// open binds it to an open resource.
	open func(host[T]) (*ExtensionHandle, error)
}

// ExtensionHandle is an open Extension: of its functions those are set that it has. Errors are API statuses, as those of
// a Handle; what an author's function returns is passed on.
type ExtensionHandle struct {
	Get    func(ctx context.Context, namespace, name, resourceVersion string, form api.Form) (api.Rendition, error)
	Update func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result, error)
	Patch  func(ctx context.Context, namespace, name string, kind api.PatchType, body api.Body, opts api.WriteOptions) (api.Result, error)
	Create func(ctx context.Context, namespace, name string, body api.Body, opts api.WriteOptions) (api.Result, error)
	// View is a Get with options.
	View func(ctx context.Context, namespace, name string, query url.Values, form api.Form) (api.Rendition, error)
	// Stream is closed by its reader.
	Stream func(ctx context.Context, namespace, name string, query url.Values) (Output, error)
	// Connect returns what serves the connection. A handler passes through here untouched; nothing else of HTTP does.
	Connect func(ctx context.Context, namespace, name string, query url.Values) (http.Handler, error)
}

// Output is what a stream sends.
type Output struct {
	io.ReadCloser
	ContentType string
}

// host is the open resource that an extension is bound to.
type host[T api.Object] struct {
	info *api.Info
	// object reads one, as it is now.
	object func(ctx context.Context, namespace, name string) (T, error)
	// stored is nil where nothing is.
	stored *handle[T]
}

// errNeedsStorage refuses what is written where nothing is stored.
var errNeedsStorage = errors.New("it changes the object, and nothing is stored of it")

// openExtensions binds all extensions of a definition.
func openExtensions[T api.Object](d *Definition[T], h host[T]) (map[string]*ExtensionHandle, error) {
	opened := make(map[string]*ExtensionHandle, len(d.Extensions))
	for _, e := range d.Extensions {
		switch {
		case e.open == nil || e.info.Name == "":
			return nil, fmt.Errorf("extension %q was not made by one of ScaleOf, ActionOf, RemovalOf, RequestOf, ProjectionOf, StreamOf and ConnectionOf, or has no name", e.info.Name)
		case opened[e.info.Name] != nil || slices.Contains(h.info.Subresources, e.info.Name):
			return nil, fmt.Errorf("subresource %q stands twice", e.info.Name)
		}
		handle, err := e.open(h)
		if err != nil {
			return nil, fmt.Errorf("subresource %q: %w", e.info.Name, err)
		}
		opened[e.info.Name] = handle
	}
	return opened, nil
}

func extensionInfos[T api.Object](d *Definition[T]) (infos []api.Extension) {
	for _, e := range d.Extensions {
		info := e.info
		if e.describe != nil {
			info = e.describe(info, d.Group)
		}
		infos = append(infos, info)
	}
	return infos
}

// Extension implements Handle.
func (h *handle[T]) Extension(name string) *ExtensionHandle { return h.extensions[name] }

// host is the handle as extensions see it.
func (h *handle[T]) host() host[T] {
	return host[T]{info: h.info, stored: h, object: func(ctx context.Context, namespace, name string) (T, error) {
		rendition, err := h.Get(ctx, namespace, name, "", h.store.Form())
		if err != nil {
			var none T
			return none, err
		}
		return h.store.Object(rendition)
	}}
}
