package endpoint

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"apigen.dev/runtime/api"
	subresources "apigen.dev/runtime/subresource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// extended is what the resource of an extension has beyond others.
type extended struct {
	*api.Extension
	shape  shape
	handle *subresources.Handle
}

// extensionShapes are the rows that serve each form.
var extensionShapes = [...]shape{api.KindForm: extension, api.StreamForm: output, api.ConnectionForm: connection}

// extend makes the resources of all extensions: as the resource, but for what answers say that they are.
func (r *resource) extend() {
	r.extensions = make(map[string]*resource, len(r.info.Extensions))
	for i := range r.info.Extensions {
		e := &r.info.Extensions[i]
		part := *r
		version := *r.version
		version.Columns, version.Protobuf = e.Columns, e.GivesProtobuf
		part.version, part.columns = &version, columnDefinitions(e.Columns)
		part.heads = newResourceHeads(r.info.Names.ListKind, schema.GroupVersion{Group: r.info.Group, Version: version.Name}.String(), e.Columns)
		if e.Kind.Kind != "" {
			info := *r.info
			info.Names.Kind = e.Kind.Kind
			part.info = &info
		}
		part.extension = &extended{Extension: e, shape: extensionShapes[e.Form], handle: r.handle.Extension(e.Name)}
		r.extensions[e.Name] = &part
	}
}

// extended is the resource of the extension that a path names, or the resource itself.
func (r *resource) extended(info *RequestInfo) *resource {
	if len(info.parts) < subpathPart {
		return r
	}
	if part := r.extensions[info.Subresource]; part != nil {
		return part
	}
	return r
}

// fits tells whether a path names the extension and nothing else. What follows it in a path may be spelled in any way, as
// long as it doesn't lead up.
func (e *extended) fits(info *RequestInfo, u *url.URL) bool {
	if !e.Subpath {
		return !info.irregular && len(info.parts) == subpathPart
	}
	below, ok := info.subpath(u)
	if !ok {
		return false
	}
	plain, err := url.PathUnescape(below)
	if err != nil || strings.ContainsAny(plain, "\x00\\") {
		return false
	}
	for part := range strings.SplitSeq(plain, "/") { // an encoded slash is one to whoever decodes it next
		if part == "." || part == ".." {
			return false
		}
	}
	return true
}

// subpathPart is where in RequestInfo.parts an extension's own path begins.
const subpathPart = 3

// subpath is what follows the subresource in a path, as it was spelled. It is false where what comes before has a second
// spelling.
func (i *RequestInfo) subpath(u *url.URL) (string, bool) {
	parts := splitPath(i.Path)
	head := len(parts) - len(i.parts) + subpathPart
	spelled := strings.SplitN(strings.TrimPrefix(u.EscapedPath(), "/"), "/", head+1)
	if head > len(parts) || len(spelled) < head {
		return "", false
	}
	for n, part := range spelled[:head] {
		plain, err := url.PathUnescape(part)
		if err != nil || plain != parts[n] || plain == "" || plain == "." || plain == ".." || strings.ContainsAny(plain, "%\x00") {
			return "", false
		}
	}
	if len(spelled) == head {
		return "", true
	}
	return spelled[head], true
}

// LongRunning tells requests beside watches that live as long as their client wants: streams and connections.
func (a *API) LongRunning(info *RequestInfo) bool {
	if info.Subresource == "" {
		return false
	}
	res := a.resources[resourceKey{info.Group, info.Version, info.Resource}]
	if res == nil {
		return false
	}
	part := res.extended(info)
	return part != res && part.extension.Lasts()
}

// act posts a kind to a subresource: 201.
func (c *call) act() error {
	return c.write(noTransform, c.createOptions, func(ctx context.Context, body api.Body, options api.WriteOptions) (api.Result, error) {
		return c.extension.handle.Create(ctx, c.namespace, c.info.Name, body, options)
	})
}

// extensionKind is what discovery says that an extension is of.
func extensionKind(info *api.Info, e *api.Extension, version string) metav1.GroupVersionKind {
	kind := metav1.GroupVersionKind{Group: info.Group, Version: version, Kind: info.Names.Kind}
	if e.Kind.Kind != "" {
		kind.Group, kind.Kind = e.Kind.Group, e.Kind.Kind
		if e.Kind.Version != "" {
			kind.Version = e.Kind.Version
		}
	}
	return kind
}

// extensionVerbs are those of the rows that an extension has.
func extensionVerbs(e *api.Extension) []string {
	verbs := []string{}
	for i := range routes {
		row := &routes[i]
		if row.shape == extensionShapes[e.Form] && row.verb != "" && slices.Contains(e.Methods, row.method) {
			verbs = append(verbs, row.verb)
		}
	}
	slices.Sort(verbs)
	return slices.Compact(verbs)
}

// extensionRows are the extensions of a resource in legacy discovery.
func extensionRows(info *api.Info, main metav1.APIResource, version string) (rows []metav1.APIResource) {
	for i := range info.Extensions {
		e := &info.Extensions[i]
		kind := extensionKind(info, e, version)
		row := metav1.APIResource{Name: main.Name + "/" + e.Name, Namespaced: main.Namespaced, Kind: kind.Kind, Verbs: extensionVerbs(e)}
		if kind.Group != info.Group || kind.Version != version {
			row.Group, row.Version = kind.Group, kind.Version
		}
		rows = append(rows, row)
	}
	return rows
}

// mainVerbs are those of a resource itself.
func mainVerbs(info *api.Info) []string {
	return slices.DeleteFunc(verbsOf(collection, item), func(verb string) bool { return !info.Has(verb) })
}
