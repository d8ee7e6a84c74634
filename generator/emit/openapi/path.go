package openapi

import (
	"maps"
)

func (b *builder) paths() object {
	root := "/apis/" + b.group.Name + "/" + b.version.Name
	if b.group.Name == "" {
		root = "/api/" + b.version.Name
	}
	out := object{root + "/": b.discovery()}
	for _, r := range b.resources() {
		e := endpoint{builder: b, resource: r, object: b.ref(r.kind), list: b.ref(r.list)}
		paths := object{}
		e.paths(root, paths)
		if r.kind.BringsProtobuf() {
			addProtobuf(paths)
		}
		maps.Copy(out, paths)
	}
	return out
}

// discovery returns the path that lists the version's resources.
func (b *builder) discovery() object {
	return object{"get": object{
		"description": "get available resources",
		"operationId": "get" + operationGroup(b.group.Name, b.version.Name) + "APIResources",
		"tags":        []any{tag(b.group.Name, b.version.Name)},
		"responses":   responses(b.metaRef("APIResourceList"), false, "200"),
	}}
}

type endpoint struct {
	*builder
	resource     served
	object, list object // references to the schemas
}

// paths adds the paths of the verbs that the resource has, and of its subresources.
func (e endpoint) paths(root string, out object) {
	r, watch := e.resource, root+"/watch"
	all, collection, watched := root+"/"+r.Plural, root+"/"+r.Plural, watch+"/"+r.Plural
	lists := e.params(e.listParameters(true), e.pretty())
	if !r.ClusterScoped {
		collection, watched = root+"/namespaces/{namespace}/"+r.Plural, watch+"/namespaces/{namespace}/"+r.Plural
		if r.Has("list") {
			out[all] = object{"get": e.listAll(), "parameters": lists}
		}
		if r.Has("watch") {
			out[watch+"/"+r.Plural] = object{"get": e.watch(e.allID("watch", "List"), "watchlist", watchesList),
				"parameters": lists}
		}
	}
	item := collection + "/{name}"
	e.add(out, collection, e.params(e.namespace(), e.pretty()), map[string]func() object{
		"list": e.listOne, "create": e.create, "deletecollection": e.deleteCollection,
	})
	named := e.params(e.name(), e.namespace(), e.pretty())
	operations := e.whole("")
	operations["delete"] = e.delete
	e.add(out, item, named, operations)
	if r.Status && !r.WithoutStorage() {
		e.add(out, item+"/status", named, e.whole("status"))
	}
	if r.Has("watch") {
		out[watched] = object{"get": e.watch(e.id("watch", "", "List"), "watchlist", watchesList),
			"parameters": e.params(lists, e.namespace())}
		out[watched+"/{name}"] = object{"get": e.watch(e.id("watch", "", ""), "watch", watchesObject),
			"parameters": e.params(lists, e.name(), e.namespace())}
	}
	e.extensionPaths(item, out)
}

// How the descriptions of the paths that watch begin.
const (
	watchesList   = "watch individual changes to a list of "
	watchesObject = "watch changes to an object of kind "
)

// whole returns the operations that read and write the object, or a part of it, in the form of the object.
func (e endpoint) whole(subresource string) map[string]func() object {
	return map[string]func() object{
		"get":    func() object { return e.read(subresource) },
		"update": func() object { return e.replace(subresource) },
		"patch":  func() object { return e.patch(subresource) },
	}
}

var methods = map[string]string{
	"list": "get", "get": "get", "create": "post", "update": "put", "patch": "patch", "delete": "delete",
	"deletecollection": "delete",
}

// add adds a path with the operations whose verbs the resource has.
func (e endpoint) add(out object, path string, parameters []object, operations map[string]func() object) {
	item := object{}
	for verb, operation := range operations {
		if e.resource.Has(verb) {
			item[methods[verb]] = operation()
		}
	}
	if len(item) > 0 {
		item["parameters"] = parameters
		out[path] = item
	}
}

// id returns the id of an operation: verb, group, version, an infix, the scope, the kind and a suffix.
func (e endpoint) id(verb, infix, suffix string) string {
	scope := "Namespaced"
	if e.resource.ClusterScoped {
		scope = ""
	}
	return verb + operationGroup(e.group.Name, e.version.Name) + infix + scope + e.resource.Kind + suffix
}

func (e endpoint) allID(verb, suffix string) string {
	return verb + operationGroup(e.group.Name, e.version.Name) + e.resource.Kind + suffix + "ForAllNamespaces"
}

// operation returns an operation with the properties that all operations on the resource have.
func (e endpoint) operation(id, action, description string, responses object) object {
	return object{
		"operationId":         id,
		"description":         description,
		"responses":           responses,
		"tags":                []any{tag(e.group.Name, e.version.Name)},
		"x-kubernetes-action": action,
		"x-kubernetes-group-version-kind": object{
			"group": e.group.Name, "version": e.version.Name, "kind": e.resource.Kind,
		},
	}
}

// article puts the article before a kind: a Widget.
func article(kind string) string {
	if kind != "" {
		switch kind[0] {
		case 'A', 'E', 'I', 'O', 'U':
			return "an " + kind
		}
	}
	return "a " + kind
}

// of returns the part of a description that names the subresource.
func of(subresource string) string {
	if subresource == "" {
		return ""
	}
	return subresource + " of "
}
