package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/audit/trail"
	"apigen.dev/runtime/internal/http/headroom"
	"apigen.dev/runtime/internal/http/respond"
	"apigen.dev/runtime/internal/request"
	"apigen.dev/runtime/internal/verb"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// shape is the shape of a path. A route has the sum of the shapes that it serves.
type shape uint8

const (
	collection shape = 1 << iota
	item
	fieldSubresource    // a part of the object, such as status
	kindExtension       // a subresource that is a kind of its own
	streamExtension     // a subresource that sends a stream of bytes
	connectionExtension // a subresource that the author's http.Handler serves

	objects = item | fieldSubresource | kindExtension
)

// route is a row of the table. A request takes the row with its shape, method and verb.
type route struct {
	shapes shape
	method string
	verb   string
	serve  func(*resourceRequest) error
	// allNamespaces: the row also serves a namespaced resource without a namespace in the path.
	allNamespaces bool
}

// routes is the table of all operations of resources. Discovery lists its verbs, and the header Allow its methods, in
// this order. An extension has the rows of its shape whose methods it declares.
var routes = []route{
	{collection, http.MethodGet, "list", (*resourceRequest).list, true},
	{collection, http.MethodGet, "watch", (*resourceRequest).watch, true},
	{collection, http.MethodPost, "create", (*resourceRequest).create, false},
	{collection, http.MethodDelete, "deletecollection", (*resourceRequest).deleteCollection, false},
	{objects, http.MethodGet, "get", (*resourceRequest).get, false},
	{objects, http.MethodHead, "get", (*resourceRequest).get, false},
	{kindExtension, http.MethodPost, "create", (*resourceRequest).createInExtension, false},
	{objects, http.MethodPut, "update", (*resourceRequest).update, false},
	{objects, http.MethodPatch, "patch", (*resourceRequest).patch, false},
	{item, http.MethodDelete, "delete", (*resourceRequest).delete, false},
	{streamExtension, http.MethodGet, "get", (*resourceRequest).sendStream, false},
	{connectionExtension, http.MethodGet, "get", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodHead, "get", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodPost, "create", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodPut, "update", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodPatch, "patch", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodDelete, "delete", (*resourceRequest).connect, false},
	{connectionExtension, http.MethodOptions, "", (*resourceRequest).connect, false},
	// The deprecated paths with the verb in front: /apis/g/v1/watch/widgets/name.
	{item, http.MethodGet, "watch", (*resourceRequest).watch, false},
}

// verbsOf returns the sorted verbs of a resource, under "", and of its subresources and extensions, under their names.
func verbsOf(info *verb.Info) map[string][]string {
	verbs := map[string][]string{
		"": selectVerbs(func(row *route) bool {
			return row.shapes&(collection|item) != 0 && info.Has(row.verb)
		}),
	}
	for _, s := range info.Subresources {
		verbs[s.Name] = selectVerbs(func(row *route) bool {
			return row.shapes&fieldSubresource != 0 && slices.Contains(s.Verbs, row.verb)
		})
	}
	for i := range info.Extensions {
		e := &info.Extensions[i]
		verbs[e.Name] = selectVerbs(func(row *route) bool {
			return row.shapes&extensionShapes[e.Form] != 0 && row.verb != "" && slices.Contains(e.Methods, row.method)
		})
	}
	return verbs
}

func selectVerbs(selects func(*route) bool) []string {
	verbs := []string{}
	for i := range routes {
		if selects(&routes[i]) {
			verbs = append(verbs, routes[i].verb)
		}
	}
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

// maxNameBytes is more than the name of any kind may have. The server doesn't look up longer names.
const maxNameBytes = 1024

// noResource returns the answer for a resource that isn't served. Before kubectl says that an object was not found, it
// asks for the object's namespace, and shows the answer to that request instead. As in kube-apiserver, the answer for a
// subresource that a custom resource doesn't have names the object (crdHandler.ServeHTTP of apiextensions-apiserver).
func (a *API) noResource(info *request.Info) error {
	res := a.resources[resourceKey{info.Group, info.Version, info.Resource}]
	if res != nil && res.version.Untyped && res.extensionOf(info) == nil && !info.Irregular && !info.WatchPath &&
		len(info.Segments) == request.SubresourceDepth && len(info.Name) <= maxNameBytes && res.isScopeOf(info) {
		return apierrors.NewNotFound(res.resourceInfo.GroupResource(), info.Name)
	}
	if info.Group != "" || info.Resource != request.NamespacesResource || info.Verb != "get" ||
		len(info.Name) > maxNameBytes {
		return respond.ErrNotFound
	}
	status := respond.ErrNotFound.ErrStatus
	status.Message = fmt.Sprintf("namespace %q is only a name here: the object was not found", info.Name)
	return &apierrors.StatusError{ErrStatus: status}
}

// serveResource finds the resource and the route of a request, and serves it.
func (a *API) serveResource(w http.ResponseWriter, r *http.Request, info *request.Info) error {
	res, shape := a.find(r.URL, info)
	if res == nil {
		return a.noResource(info)
	}
	namespace, ok := res.namespaceOf(info)
	if !ok {
		return respond.ErrNotFound
	}
	allNamespaces := res.resourceInfo.Scope == api.Namespaced && namespace == ""
	if allNamespaces && shape != collection {
		return respond.ErrNotFound
	}
	for i := range routes {
		row := &routes[i]
		if row.method != r.Method || row.verb != info.Verb || allNamespaces && !row.allNamespaces ||
			!res.has(row, shape, info) {
			continue
		}
		res.warn(w, r)
		req := &resourceRequest{
			resource: res, api: a, requestInfo: info, namespace: namespace, w: w, r: r, query: queryOf(r.URL),
		}
		defer req.end()
		return row.serve(req)
	}
	return res.refuse(w, r, info, shape, allNamespaces)
}

// memory returns the claim of the request on memory; nil if the server has no memory limit.
func (req *resourceRequest) memory() *headroom.Claim {
	if req.claim == nil {
		kind := headroom.Write
		if req.r.Method == http.MethodGet || req.r.Method == http.MethodHead {
			kind = headroom.Read
		}
		req.claim = req.api.memory.Claim(req.r.Context(), kind)
	}
	return req.claim
}

// end gives back what the request holds: the bytes of its body, too, if it failed before its work was done.
func (req *resourceRequest) end() {
	req.releaseBody()
	req.releaseQuery()
	req.claim.Release()
}

// warn tells the client, and the audit, that the version is deprecated.
func (r *resource) warn(w http.ResponseWriter, req *http.Request) {
	if warning := r.version.Deprecated; warning != "" {
		respond.AddWarnings(w.Header(), []string{warning})
		trail.Annotate(req.Context(), "k8s.io/deprecated", "true")
		if r.version.Removed != "" {
			trail.Annotate(req.Context(), "k8s.io/removed-release", r.version.Removed)
		}
	}
}

// refuse returns the answer to a request that no route serves. As in kube-apiserver, a watch of what can only be listed
// is refused by the route of the list, with the verb, and each request for a custom resource with its own; an update of
// a collection of custom resources lacks the name.
func (r *resource) refuse(
	w http.ResponseWriter, req *http.Request, info *request.Info, shape shape, allNamespaces bool,
) error {
	methods := r.allowedMethods(shape, allNamespaces, info)
	if methods == "" || allNamespaces && r.version.Untyped {
		return respond.ErrNotFound
	}
	if r.version.Untyped && shape == collection && (info.Verb == "update" || info.Verb == "patch") {
		return apierrors.NewBadRequest("name must be provided")
	}
	w.Header().Set("Allow", methods)
	if info.Verb == "watch" && shape == collection && req.Method == http.MethodGet && r.resourceInfo.Has("list") {
		r.warn(w, req)
		return apierrors.NewMethodNotSupported(r.resourceInfo.GroupResource(), info.Verb)
	}
	if r.version.Untyped && !info.WatchPath {
		return apierrors.NewMethodNotSupported(r.resourceInfo.GroupResource(), info.Verb)
	}
	return respond.ErrMethodNotAllowed
}

// find returns the resource that a path names, and the shape of the path; nil if the server doesn't serve the path.
func (a *API) find(u *url.URL, info *request.Info) (*resource, shape) {
	res := a.resources[resourceKey{info.Group, info.Version, info.Resource}]
	if res == nil || info.Verb == request.VerbProxy || len(info.Name) > maxNameBytes {
		return nil, 0
	}
	if e := res.extensionOf(info); e != nil {
		if !e.extension.accepts(info, u) {
			return nil, 0
		}
		return e, e.extension.shape
	}
	shape := collection
	switch {
	case len(info.Segments) >= request.SubresourceDepth:
		shape = fieldSubresource
	case info.NamesObject():
		shape = item
	}
	if info.Irregular || len(info.Segments) > request.SubresourceDepth {
		return nil, 0
	}
	if shape == fieldSubresource {
		if part := res.resourceInfo.Subresource(info.Subresource); part == nil || !part.In(info.Version) {
			return nil, 0
		}
	}
	return res, shape
}

// isScopeOf reports whether a path that names an object has a namespace where the resource has.
func (r *resource) isScopeOf(info *request.Info) bool {
	namespace, ok := r.namespaceOf(info)
	return ok && (namespace != "" || r.resourceInfo.Scope != api.Namespaced)
}

// namespaceOf returns the namespace for a Handle, or false if a cluster-scoped resource has one in its path.
func (r *resource) namespaceOf(info *request.Info) (string, bool) {
	if r.resourceInfo.Scope == api.Namespaced {
		return info.Namespace, true
	}
	// The Info of a request for a namespace has a Namespace, as authorizers expect, but its path has no namespace in
	// front of the resource.
	return "", !info.BelowNamespace
}

// has reports whether a path of the resource is served by a row.
func (r *resource) has(row *route, shape shape, info *request.Info) bool {
	switch {
	case row.shapes&shape == 0:
		return false
	case r.extension != nil:
		return slices.Contains(r.extension.Methods, row.method)
	case shape == fieldSubresource:
		return slices.Contains(r.resourceInfo.Subresource(info.Subresource).Verbs, row.verb)
	}
	return r.resourceInfo.Has(row.verb)
}

func (r *resource) allowedMethods(shape shape, allNamespaces bool, info *request.Info) string {
	if info.WatchPath {
		if r.resourceInfo.Has("watch") {
			return http.MethodGet
		}
		return ""
	}
	var methods []string
	for i := range routes {
		row := &routes[i]
		if r.has(row, shape, info) && (row.allNamespaces || !allNamespaces) && !slices.Contains(methods, row.method) {
			methods = append(methods, row.method)
		}
	}
	return strings.Join(methods, ", ")
}
