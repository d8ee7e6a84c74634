package endpoint

import (
	"context"
	"net/url"
	"strings"

	"apigen.dev/runtime/internal/http/encoder"
	"apigen.dev/runtime/internal/http/negotiation"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// extension is the part of a resource that only extensions have.
type extension struct {
	*verb.Extension
	shape  shape
	handle *verb.ExtensionHandle
}

// extensionShapes are the shapes of the forms of extensions.
var extensionShapes = [...]shape{
	verb.KindForm: kindExtension, verb.StreamForm: streamExtension, verb.ConnectionForm: connectionExtension,
}

// addExtensions adds extensions: copies of the resource with their own kind, columns and encodings.
func (r *resource) addExtensions() {
	r.extensions = make(map[string]*resource, len(r.resourceInfo.Extensions))
	for i := range r.resourceInfo.Extensions {
		e := &r.resourceInfo.Extensions[i]
		if !e.In(r.version.Name) {
			continue
		}
		part := *r
		version := *r.version
		version.Columns, version.Protobuf = e.Columns, e.GivesProtobuf
		part.version = &version
		apiVersion := schema.GroupVersion{Group: r.resourceInfo.Group, Version: version.Name}.String()
		part.heads = encoder.NewHeads(r.resourceInfo.Names.ListKind, apiVersion, e.Columns)
		if e.Kind.Kind != "" {
			info := *r.resourceInfo
			info.Names.Kind = e.Kind.Kind
			part.resourceInfo = &info
		}
		part.extension = &extension{Extension: e, shape: extensionShapes[e.Form], handle: r.handle.Extension(e.Name)}
		r.extensions[e.Name] = &part
	}
}

func (r *resource) extensionOf(info *request.Info) *resource {
	if len(info.Segments) < request.SubresourceDepth {
		return nil
	}
	return r.extensions[info.Subresource]
}

// accepts reports whether the extension serves a path. An extension without a subpath serves its own path alone. An
// extension with one serves every spelling of the subpath, unless it has dot segments.
func (e *extension) accepts(info *request.Info, u *url.URL) bool {
	if !e.Subpath {
		return !info.Irregular && len(info.Segments) == request.SubresourceDepth
	}
	subpath, ok := info.Subpath(u)
	if !ok {
		return false
	}
	plain, err := url.PathUnescape(subpath)
	if err != nil || strings.ContainsAny(plain, "\x00\\") {
		return false
	}
	// The next server that decodes the path takes an encoded slash for a slash.
	for segment := range strings.SplitSeq(plain, "/") {
		if segment == "." || segment == ".." {
			return false
		}
	}
	return true
}

// LongRunning reports whether a request is for a stream or a connection, which last as long as the client wants. It is
// the function that request.New takes.
func (a *API) LongRunning(info *request.Info) bool {
	if info.Subresource == "" {
		return false
	}
	res := a.resources[resourceKey{info.Group, info.Version, info.Resource}]
	if res == nil {
		return false
	}
	e := res.extensionOf(info)
	return e != nil && e.extension.Lasts()
}

// createInExtension passes a body of the extension's kind to the extension, and answers 201.
func (req *resourceRequest) createInExtension() error {
	return req.write(negotiation.NoTransform, "CreateOptions",
		func(ctx context.Context, body verb.Body, options verb.WriteOptions) (verb.Result, error) {
			return req.extension.handle.Create(ctx, req.namespace, req.requestInfo.Name, body, options)
		})
}
