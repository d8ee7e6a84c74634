package endpoint

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
)

// RequestInfo is what a request asks for, as far as its URL and method tell: what authorization decides on, and what
// the routes decide on too, so that the two can't see different things in one URL. ParseRequestInfo makes it; it is
// immutable.
type RequestInfo struct {
	// IsResource: the path names a resource; else only Path and Verb (the lower-cased method) are set.
	IsResource  bool
	Path        string
	Verb        string // get, list, watch, create, update, patch, delete, deletecollection
	Group       string
	Version     string
	Resource    string
	Subresource string
	Namespace   string
	// Name is the object's. A list or watch whose field selector asks for one metadata.name bears that name.
	Name string

	// parts are the segments of the path from the resource on: widgets/a/status.
	parts []string
	// LongRunning: it lives as long as its client wants, without being a watch. An API knows of which subresources that
	// holds; a filter that knows the API sets it.
	LongRunning bool
	// oldWatch: the verb stands in the path, /apis/g/v1/watch/widgets.
	oldWatch bool
	// namespaced: the resource stands below a namespace's path.
	namespaced bool
	// irregular: the path has a second spelling (an encoded slash, dot segments, empty segments), and is served to
	// nobody.
	irregular bool
}

// Words of a path that are no resources.
const (
	coreRoot       = "api"
	groupsRoot     = "apis"
	namespacesPart = "namespaces"
	watchPart      = "watch"
	proxyPart      = "proxy"
)

// ParseRequestInfo reads the URL and method of r, as kube-apiserver's RequestInfoFactory does. It fails where a path
// ends behind a verb (/apis/g/v1/watch).
func ParseRequestInfo(r *http.Request) (*RequestInfo, error) {
	info := &RequestInfo{Path: r.URL.Path, Verb: strings.ToLower(r.Method), irregular: irregularPath(r.URL)}
	parts := splitPath(r.URL.Path)
	if len(parts) < 3 || parts[0] != coreRoot && (parts[0] != groupsRoot || len(parts) < 4) {
		return info, nil
	}
	if parts[0] == groupsRoot {
		info.Group, parts = parts[1], parts[1:]
	}
	info.IsResource = true
	info.Version, parts = parts[1], parts[2:]

	if parts[0] == watchPart || parts[0] == proxyPart {
		if len(parts) < 2 {
			return info, fmt.Errorf("unable to determine kind and namespace from url, %v", r.URL)
		}
		info.Verb, info.oldWatch, parts = parts[0], parts[0] == watchPart, parts[1:]
	} else {
		info.Verb = methodVerbs[r.Method]
	}
	info.setNames(parts)
	info.refineVerb(r.URL)
	return info, nil
}

// methodVerbs are the verbs of requests for a named object; refineVerb turns them into those of collections.
var methodVerbs = map[string]string{
	http.MethodPost:   "create",
	http.MethodGet:    "get",
	http.MethodHead:   "get",
	http.MethodPut:    "update",
	http.MethodPatch:  "patch",
	http.MethodDelete: "delete",
}

// setNames reads what follows the version: [namespaces/NS/]resource[/name[/subresource[/...]]].
func (i *RequestInfo) setNames(parts []string) {
	if parts[0] == namespacesPart && len(parts) > 1 {
		i.Namespace = parts[1]
		// Two words behind a namespace's name are its own subresources; all others are resources inside of it.
		if len(parts) > 2 && parts[2] != "status" && parts[2] != "finalize" {
			i.namespaced, parts = true, parts[2:]
		}
	}
	i.parts = parts
	i.Resource = parts[0]
	if len(parts) > 1 {
		i.Name = parts[1]
	}
	if len(parts) > 2 && i.Verb != proxyPart {
		i.Subresource = parts[2]
	}
}

// refineVerb turns get and delete without a name into the verbs of collections. A name that a field selector asks for
// counts for reads, so that a right on one object suffices to list or watch that object.
func (i *RequestInfo) refineVerb(u *url.URL) {
	switch {
	case i.Name != "":
	case i.Verb == "delete":
		i.Verb = "deletecollection"
	case i.Verb == "get" && u.RawQuery == "":
		i.Verb = "list"
	case i.Verb == "get":
		var options metav1.ListOptions
		query := u.Query()
		err := metav1.Convert_url_Values_To_v1_ListOptions(&query, &options, nil)
		i.Verb = "list"
		if options.Watch || err != nil && isTrue(query["watch"]) {
			i.Verb = "watch"
		}
		if err == nil {
			i.Name = selectedName(options.FieldSelector)
		}
	}
}

// selectedName is the one metadata.name that a field selector asks for, or "".
func selectedName(selector string) string {
	if selector == "" {
		return ""
	}
	parsed, err := fields.ParseSelector(selector)
	if err != nil {
		return ""
	}
	name, found := parsed.RequiresExactMatch("metadata.name")
	if !found || len(content.IsPathSegmentName(name)) > 0 {
		return ""
	}
	return name
}

// isTrue reads a boolean of a query as kube-apiserver does: everything but false and 0 is true.
func isTrue(values []string) bool {
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// named tells whether the path itself names an object.
func (i *RequestInfo) named() bool { return len(i.parts) > 1 }

func splitPath(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

// irregularPath tells paths that something on the way may have read differently from us.
func irregularPath(u *url.URL) bool {
	if strings.Contains(strings.TrimRight(u.Path, "/"), "//") || strings.Contains(u.Path, "\x00") {
		return true
	}
	if escaped := u.EscapedPath(); strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%2F") {
		return true
	}
	for part := range strings.SplitSeq(u.Path, "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

type contextKey int

const requestInfoKey contextKey = iota

// WithRequestInfo returns a context that carries info.
func WithRequestInfo(ctx context.Context, info *RequestInfo) context.Context {
	return context.WithValue(ctx, requestInfoKey, info)
}

// RequestInfoFrom returns the context's RequestInfo, nil where there is none.
func RequestInfoFrom(ctx context.Context) *RequestInfo {
	info, _ := ctx.Value(requestInfoKey).(*RequestInfo)
	return info
}
