// Package request describes what an HTTP request asks the API for: verb, group, version, resource, subresource,
// namespace and name. The server makes one Info for each request, and the filters, the authorizer and the endpoint read
// the same Info, so that they can't see different things in one URL.
//
// The package imports nothing of ours. The user is not part of an Info: authentication finds the user, impersonation
// replaces it, and package auth carries it beside the Info.
package request

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

// Info holds the attributes of a request, as kube-apiserver's RequestInfo does. New makes it from an HTTP request. Code
// that asks for a permission without an HTTP request, such as impersonation, fills in the exported fields itself.
//
// All handlers of a request share its Info, so nobody changes an Info after it is made.
type Info struct {
	// IsResource reports whether the path names a resource. If it doesn't, only Path and Verb are set.
	IsResource bool
	Path       string
	// Verb is get, list, watch, create, update, patch, delete, deletecollection or proxy. If the path names no
	// resource, Verb is the lower-cased HTTP method.
	Verb        string
	Group       string
	Version     string
	Resource    string
	Subresource string
	// Namespace is the namespace in the path. A request for a namespace has the name of that namespace here, too.
	Namespace string
	// Name is the object's name. A list or watch whose field selector selects one metadata.name has that name here.
	Name string
	// FieldSelector and LabelSelector are the selectors of a list, a watch or a deletecollection as the client wrote
	// them, which an authorizer may parse.
	FieldSelector, LabelSelector string
	// LongRunning reports whether the request lasts as long as its client wants: a watch, or a request for which the
	// function that New was given returned true. Such a request has no deadline and ends when the server shuts down.
	LongRunning bool

	// Segments are the segments of the path from the resource on: widgets, a, status.
	Segments []string
	// WatchPath reports whether the verb watch stands in the path: /apis/g/v1/watch/widgets.
	WatchPath bool
	// BelowNamespace reports whether the resource follows namespaces/NAME in the path.
	BelowNamespace bool
	// Irregular reports whether a proxy in front of the server may have read the path differently, because the path has
	// an encoded slash, dot segments or empty segments. The server answers 404 to such a path.
	Irregular bool
}

// The first segment of the path of the core group and of all other groups.
const (
	CoreRoot   = "api"
	GroupsRoot = "apis"
)

// NamespacesResource is the resource of namespaces, and the segment that precedes the name of a namespace in a path.
const NamespacesResource = "namespaces"

// The verbs that may stand in a path, in front of the resource.
const (
	VerbWatch = "watch"
	VerbProxy = "proxy"
)

// SubresourceDepth is the number of segments of a path that names a subresource: resource, name and subresource.
const SubresourceDepth = 3

// New reads the method and the URL of r, as kube-apiserver's RequestInfoFactory does. It calls longRunning once for a
// request for a resource that is not a watch; nil stands for a function that returns false. New fails if the path ends
// after a verb (/apis/g/v1/watch).
func New(r *http.Request, longRunning func(*Info) bool) (*Info, error) {
	info := &Info{Path: r.URL.Path, Irregular: isIrregular(r.URL)}
	segments := split(r.URL.Path)
	if len(segments) < 3 || segments[0] != CoreRoot && (segments[0] != GroupsRoot || len(segments) < 4) {
		info.Verb = strings.ToLower(r.Method)
		return info, nil
	}
	if segments[0] == GroupsRoot {
		info.Group, segments = segments[1], segments[1:]
	}
	info.IsResource = true
	info.Version, segments = segments[1], segments[2:]

	if segments[0] == VerbWatch || segments[0] == VerbProxy {
		if len(segments) < 2 {
			return info, fmt.Errorf("unable to determine kind and namespace from url, %v", r.URL)
		}
		info.Verb, info.WatchPath, segments = segments[0], segments[0] == VerbWatch, segments[1:]
	} else {
		info.Verb = methodVerbs[r.Method]
	}
	info.setNames(segments)
	info.refineVerb(r.URL)
	info.LongRunning = info.Verb == VerbWatch || longRunning != nil && longRunning(info)
	return info, nil
}

// methodVerbs are the verbs of requests for a named object. refineVerb replaces them by the verbs of collections.
var methodVerbs = map[string]string{
	http.MethodPost:   "create",
	http.MethodGet:    "get",
	http.MethodHead:   "get",
	http.MethodPut:    "update",
	http.MethodPatch:  "patch",
	http.MethodDelete: "delete",
}

// setNames reads the segments after the version: [namespaces/NS/]resource[/name[/subresource[/...]]].
func (i *Info) setNames(segments []string) {
	if segments[0] == NamespacesResource && len(segments) > 1 {
		i.Namespace = segments[1]
		if BelowNamespace(segments) {
			i.BelowNamespace, segments = true, segments[2:]
		}
	}
	i.Segments = segments
	i.Resource = segments[0]
	if len(segments) > 1 {
		i.Name = segments[1]
	}
	if len(segments) > 2 && i.Verb != VerbProxy {
		i.Subresource = segments[2]
	}
}

// BelowNamespace reports whether the segments of a path after the version name a resource in a namespace:
// namespaces/NAME/widgets. Namespaces have two subresources of their own, status and finalize; every other word after
// the name of a namespace is a resource in it.
func BelowNamespace(segments []string) bool {
	return len(segments) > 2 && segments[0] == NamespacesResource &&
		segments[2] != "status" && segments[2] != "finalize"
}

// refineVerb replaces get and delete by the verbs of collections if the path names no object. For reads, a name that a
// field selector selects counts as the name of the request, so that a permission for one object suffices to list or
// watch that object.
func (i *Info) refineVerb(u *url.URL) {
	switch {
	case i.Name != "":
	case i.Verb == "delete":
		i.Verb = "deletecollection"
		if u.RawQuery != "" {
			query := u.Query()
			i.FieldSelector, i.LabelSelector = query.Get("fieldSelector"), query.Get("labelSelector")
		}
	case i.Verb == "get" && u.RawQuery == "":
		i.Verb = "list"
	case i.Verb == "get":
		var options metav1.ListOptions
		query := u.Query()
		i.FieldSelector, i.LabelSelector = query.Get("fieldSelector"), query.Get("labelSelector")
		err := metav1.Convert_url_Values_To_v1_ListOptions(&query, &options, nil)
		i.Verb = "list"
		if options.Watch || err != nil && BoolOption(query["watch"]) {
			i.Verb = VerbWatch
		}
		if err == nil {
			i.Name = selectedName(options.FieldSelector)
		}
	}
}

// selectedName returns the one metadata.name that a field selector selects, or "".
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

// BoolOption reads a boolean option of a query as kube-apiserver does: the first value decides, and every value except
// false and 0 is true.
func BoolOption(values []string) bool {
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// WithVerb returns a copy of i with another verb.
func (i *Info) WithVerb(verb string) *Info {
	changed := *i
	changed.Verb = verb
	return &changed
}

// NamesObject reports whether the path itself names an object.
func (i *Info) NamesObject() bool { return len(i.Segments) > 1 }

// Subpath returns the part of u's path that follows the subresource, in the spelling of the client. It returns false if
// the part before it has a second spelling. u is the URL of the request.
func (i *Info) Subpath(u *url.URL) (string, bool) {
	segments := split(i.Path)
	head := len(segments) - len(i.Segments) + SubresourceDepth
	escaped := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", head+1)
	if head > len(segments) || len(escaped) < head {
		return "", false
	}
	for n, segment := range escaped[:head] {
		plain, err := url.PathUnescape(segment)
		if err != nil || plain != segments[n] || plain == "" || plain == "." || plain == ".." ||
			strings.ContainsAny(plain, "%\x00") {
			return "", false
		}
	}
	if len(escaped) == head {
		return "", true
	}
	return escaped[head], true
}

func split(path string) []string {
	path = strings.Trim(path, "/")
	if path == "" {
		return nil
	}
	return strings.Split(path, "/")
}

func isIrregular(u *url.URL) bool {
	if strings.Contains(strings.TrimRight(u.Path, "/"), "//") || strings.Contains(u.Path, "\x00") {
		return true
	}
	if escaped := u.EscapedPath(); strings.Contains(escaped, "%2f") || strings.Contains(escaped, "%2F") {
		return true
	}
	for segment := range strings.SplitSeq(u.Path, "/") {
		if segment == "." || segment == ".." {
			return true
		}
	}
	return false
}

type infoKey struct{}

// WithInfo returns a context that carries info.
func WithInfo(ctx context.Context, info *Info) context.Context {
	return context.WithValue(ctx, infoKey{}, info)
}

// InfoFrom returns the Info that ctx carries, or nil.
func InfoFrom(ctx context.Context) *Info {
	info, _ := ctx.Value(infoKey{}).(*Info)
	return info
}
