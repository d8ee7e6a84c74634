package endpoint

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// shape is what a path names.
type shape uint8

const (
	collection shape = iota
	item
	subresource
	extension  // a subresource that is a kind of its own
	output     // one that sends what it has as it comes
	connection // one that a handler of the author's serves
)

// route is a row of the table. A request takes the row whose shape, method and verb are its own.
type route struct {
	shape  shape
	method string
	verb   string
	serve  func(*call) error
	// everywhere: a namespaced resource has it across all namespaces, too.
	everywhere bool
}

// routes is THE table of what can be asked of a resource. Discovery tells its verbs.
var routes = []route{
	{collection, http.MethodGet, "list", (*call).list, true},
	{collection, http.MethodGet, "watch", (*call).watch, true},
	{collection, http.MethodPost, "create", (*call).create, false},
	{collection, http.MethodDelete, "deletecollection", (*call).deleteCollection, false},
	{item, http.MethodGet, "get", (*call).get, false},
	{item, http.MethodHead, "get", (*call).get, false},
	{item, http.MethodPut, "update", (*call).update, false},
	{item, http.MethodPatch, "patch", (*call).patch, false},
	{item, http.MethodDelete, "delete", (*call).delete, false},
	{subresource, http.MethodGet, "get", (*call).get, false},
	{subresource, http.MethodHead, "get", (*call).get, false},
	{subresource, http.MethodPut, "update", (*call).update, false},
	{subresource, http.MethodPatch, "patch", (*call).patch, false},
	// Of these an extension has those whose methods are its own.
	{extension, http.MethodGet, "get", (*call).get, false},
	{extension, http.MethodHead, "get", (*call).get, false},
	{extension, http.MethodPost, "create", (*call).act, false},
	{extension, http.MethodPut, "update", (*call).update, false},
	{extension, http.MethodPatch, "patch", (*call).patch, false},
	{output, http.MethodGet, "get", (*call).send, false},
	{connection, http.MethodGet, "get", (*call).connect, false},
	{connection, http.MethodHead, "get", (*call).connect, false},
	{connection, http.MethodPost, "create", (*call).connect, false},
	{connection, http.MethodPut, "update", (*call).connect, false},
	{connection, http.MethodPatch, "patch", (*call).connect, false},
	{connection, http.MethodDelete, "delete", (*call).connect, false},
	{connection, http.MethodOptions, "", (*call).connect, false},
	// The deprecated paths with the verb in front: /apis/g/v1/watch/widgets/name.
	{item, http.MethodGet, "watch", (*call).watch, false},
}

// maxNameBytes is beyond what any kind allows as a name; nothing longer is looked up.
const maxNameBytes = 1024

// errNoRoute is the answer to paths that nothing is served under. It has details, if empty ones: clients look for the name in
// them that only an object which is not there has.
var errNoRoute = apierrors.NewGenericServerResponse(http.StatusNotFound, "", schema.GroupResource{}, "", "", 0, false)

// noResource is the answer where a resource isn't served. Before kubectl says that an object was not found it asks for the
// object's namespace, and shows the answer to that instead.
func noResource(info *RequestInfo) error {
	if info.Group != "" || info.Resource != namespacesPart || info.Verb != "get" || len(info.Name) > maxNameBytes {
		return errNoRoute
	}
	status := errNoRoute.ErrStatus
	status.Message = fmt.Sprintf("namespace %q is only a name here: the object was not found", info.Name)
	return &apierrors.StatusError{ErrStatus: status}
}

// errMethod is the answer to methods that a path doesn't have.
var errMethod = apierrors.NewGenericServerResponse(http.StatusMethodNotAllowed, "", schema.GroupResource{}, "", "", 0, false)

// serveResource finds the request's resource and row.
func (a *API) serveResource(w http.ResponseWriter, r *http.Request, info *RequestInfo) error {
	res, shape := a.find(r.URL, info)
	if res == nil {
		return noResource(info)
	}
	namespace, ok := res.namespaceOf(info)
	if !ok {
		return errNoRoute
	}
	everywhere := res.info.Scope == api.Namespaced && namespace == ""
	if everywhere && shape != collection {
		return errNoRoute
	}
	for i := range routes {
		row := &routes[i]
		if row.method != r.Method || row.verb != info.Verb || everywhere && !row.everywhere || !res.has(row, shape) {
			continue
		}
		if warning := res.version.Deprecated; warning != "" {
			addWarnings(w.Header(), []string{warning})
		}
		c := &call{resource: res, api: a, info: info, namespace: namespace, w: w, r: r, query: r.URL.Query()}
		defer c.unweigh()
		return row.serve(c)
	}
	methods := res.allowed(shape, everywhere, info)
	if methods == "" {
		return errNoRoute
	}
	w.Header().Set("Allow", methods)
	return errMethod
}

// find is what a path names, and its shape; nil where that is nothing.
func (a *API) find(u *url.URL, info *RequestInfo) (*resource, shape) {
	res := a.resources[resourceKey{info.Group, info.Version, info.Resource}]
	if res == nil || info.Verb == proxyPart || len(info.Name) > maxNameBytes {
		return nil, 0
	}
	if part := res.extended(info); part != res {
		if !part.extension.fits(info, u) {
			return nil, 0
		}
		return part, part.extension.shape
	}
	shape := info.shape()
	if info.irregular || len(info.parts) > subpathPart || shape == subresource && !slices.Contains(res.info.Subresources, info.Subresource) {
		return nil, 0
	}
	return res, shape
}

func (i *RequestInfo) shape() shape {
	switch {
	case len(i.parts) > 2:
		return subresource
	case i.named():
		return item
	}
	return collection
}

// namespaceOf is the namespace as a Handle wants it. It is false where the path has one that the resource can't have.
func (r *resource) namespaceOf(info *RequestInfo) (string, bool) {
	if r.info.Scope == api.Namespaced {
		return info.Namespace, true
	}
	// A namespace's own RequestInfo has a Namespace, as authorizers expect, and no namespace in front of the resource.
	return "", !info.namespaced
}

// has tells whether the resource is served by a row.
func (r *resource) has(row *route, shape shape) bool {
	if row.shape != shape {
		return false
	}
	if r.extension != nil {
		return slices.Contains(r.extension.Methods, row.method)
	}
	return shape == subresource || r.info.Has(row.verb)
}

// allowed is the header of a 405.
func (r *resource) allowed(shape shape, everywhere bool, info *RequestInfo) string {
	if info.oldWatch {
		return http.MethodGet
	}
	var methods []string
	for i := range routes {
		row := &routes[i]
		if r.has(row, shape) && (row.everywhere || !everywhere) && !slices.Contains(methods, row.method) {
			methods = append(methods, row.method)
		}
	}
	return strings.Join(methods, ", ")
}
