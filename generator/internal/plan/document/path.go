package document

import (
	"cmp"
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/spelling"
)

func (b *builder) paths() object {
	root := "/apis/" + b.group.Name + "/" + b.version.Name
	if b.group.Name == "" {
		root = "/api/" + b.version.Name
	}
	out := object{root + "/": object{"get": object{
		"description": "get available resources",
		"operationId": "get" + operationGroup(b.group.Name, b.version.Name) + "APIResources",
		"tags":        []any{tag(b.group.Name, b.version.Name)},
		"responses":   responses(b.metaRef("APIResourceList"), objectTypes, "200"),
	}}}
	for _, r := range b.resources() {
		e := endpoint{builder: b, resource: r, kind: gvk(b.group.Name, b.version.Name, r.Kind),
			object: b.ref(r.kind), list: b.ref(r.list), types: objectTypes, streams: streamTypes}
		if r.kind.BringsProtobuf() {
			e.types = slices.Concat(objectTypes, []string{protobufType})
			e.streams = slices.Concat(streamTypes, []string{protobufType, protobufType + ";stream=watch"})
		}
		e.paths(root, out)
	}
	return out
}

// endpoint makes the paths of a resource.
type endpoint struct {
	*builder
	resource served
	// kind is the group, version and kind of what operations are about, object and list refer to the schemas.
	kind, object, list object
	// types are the media types of objects, and streams those of what can be watched.
	types, streams []string
}

// paths adds the paths of the verbs that the resource has, and of its subresources.
func (e endpoint) paths(root string, out object) {
	r, watch := e.resource, root+"/watch"
	all, collection, watched := root+"/"+r.Plural, root+"/"+r.Plural, watch+"/"+r.Plural
	lists := e.params(e.queries(selection, watching), pretty())
	if !r.ClusterScoped {
		collection, watched = root+"/namespaces/{namespace}/"+r.Plural, watch+"/namespaces/{namespace}/"+r.Plural
		if r.Has("list") {
			list := e.verb("list", "")
			list["operationId"] = e.allID("list", "")
			delete(list, "parameters")
			out[all] = object{"get": list, "parameters": lists}
		}
		if r.Has("watch") {
			out[watch+"/"+r.Plural] = object{"get": e.watch(e.allID("watch", "List"), "watchlist", watchesList),
				"parameters": lists}
		}
	}
	item, named := collection+"/{name}", e.params(e.name(), e.namespace(), pretty())
	e.add(out, collection, "", e.params(e.namespace(), pretty()), "list", "create", "deletecollection")
	e.add(out, item, "", named, "get", "update", "patch", "delete")
	if r.Status && !r.WithoutStorage {
		e.add(out, item+"/status", "status", named, "get", "update", "patch")
	}
	if r.Has("watch") {
		out[watched] = object{"get": e.watch(e.id("watch", "", "List"), "watchlist", watchesList),
			"parameters": e.params(lists, e.namespace())}
		out[watched+"/{name}"] = object{"get": e.watch(e.id("watch", "", ""), "watch", watchesObject),
			"parameters": e.params(lists, e.name(), e.namespace())}
	}
	for _, s := range r.Subresources {
		e.subresource(item+"/"+s.Name, s, named, out)
	}
}

// How the descriptions of the paths that watch begin.
const (
	watchesList   = "watch individual changes to a list of "
	watchesObject = "watch changes to an object of kind "
)

// add adds a path with the operations of those verbs that the resource has.
func (e endpoint) add(out object, path, subresource string, parameters []object, names ...string) {
	item := object{}
	for _, name := range names {
		if e.resource.Has(name) {
			item[verbs[name].method] = e.verb(name, subresource)
		}
	}
	if len(item) > 0 {
		item["parameters"] = parameters
		out[path] = item
	}
}

// subresource adds the paths of a subresource other than status.
func (e endpoint) subresource(at string, s *model.Subresource, named []object, out object) {
	switch s.Form {
	case model.FieldSubresource:
		e.add(out, at, s.Name, named, "get", "update", "patch")
	case model.PartSubresource:
		e.add(out, at, s.Name, named, s.Verbs()...)
	case model.ScaleSubresource:
		e.object, e.kind = e.scaleRef(), scaleKind
		out[at] = object{"parameters": named, "get": e.verb("get", s.Name), "put": e.verb("update", s.Name),
			"patch": e.verb("patch", s.Name)}
	case model.ActionSubresource, model.RequestSubresource, model.RemovalSubresource:
		out[at] = object{"post": e.action(s), "parameters": e.params(e.queries(writing), named)}
	case model.ViewSubresource:
		e.object, e.kind = e.payload(s.Answer)
		out[at] = object{"get": e.verb("get", s.Name), "parameters": e.params(named, e.optionQueries(s.Options, ""))}
	case model.StreamSubresource:
		read := e.verb("get", s.Name)
		read["responses"] = texts(cmp.Or(s.ContentType, "text/plain"))
		out[at] = object{"get": read, "parameters": e.params(named, e.optionQueries(s.Options, ""))}
	case model.ConnectSubresource:
		out[at] = e.connections(s, "", "", nil)
		if s.Subpath {
			below := inPath("path", "path below the subresource")
			out[at+"/{path}"] = e.connections(s, "WithPath", "path", []object{below})
		}
	}
}

func (e endpoint) action(s *model.Subresource) object {
	answer := e.metaRef("Status")
	if s.Answer != nil {
		answer, _ = e.payload(s.Answer)
	}
	var in object
	in, e.kind = e.payload(s.Body)
	o := e.operation(e.id("create", "", idName(s)), "post", "create "+s.Name+" of "+article(e.resource.Kind),
		responses(answer, e.types, "200", "201", "202"))
	o["requestBody"] = content(in, jsonType, yamlType)
	return o
}

// payload refers to the schema of a kind of a subresource, and returns its group, version and kind.
func (e endpoint) payload(p *model.Payload) (ref, kind object) {
	v := p.At(e.version.Name)
	kind = gvk(p.Group, v.Name, p.Kind)
	if e.kinds[v.Type] == "" {
		e.payloads[v.Type] = kind
	}
	return e.ref(v.Type), kind
}

// connections returns a path of a subresource that serves connections, with the parameters of its options except the
// one that stands in the path.
func (e endpoint) connections(s *model.Subresource, suffix, without string, path []object) object {
	if kind := s.OptionsKind(e.group.Name); kind != nil {
		e.kind = gvk(kind.Group, cmp.Or(kind.Version, e.version.Name), kind.Kind)
	}
	out := object{"parameters": e.params(e.name(), e.namespace(), path, e.optionQueries(s.Options, without))}
	for _, method := range s.Methods {
		verb := strings.ToLower(method)
		out[verb] = e.operation(e.id("connect", spelling.UpperFirst(verb), idName(s)+suffix), "connect",
			"connect "+method+" requests to "+s.Name+" of "+e.resource.Kind, texts("*/*"))
	}
	return out
}

// idName returns the name of a subresource in the ids of operations.
func idName(s *model.Subresource) string {
	return spelling.UpperFirst(camel(strings.Split(s.Name, "-")))
}
