package openapi

import "maps"

// paths are all paths of the version.
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

// discovery is the path that lists the version's resources.
func (b *builder) discovery() object {
	return object{"get": object{
		"description": "get available resources",
		"operationId": "get" + operationGroup(b.group.Name, b.version.Name) + "APIResources",
		"tags":        []any{tag(b.group.Name, b.version.Name)},
		"responses":   responses(b.metaRef("APIResourceList"), false, "200"),
	}}
}

// endpoint makes the paths of one resource.
type endpoint struct {
	*builder
	resource     served
	object, list object // references to the schemas
}

func (e endpoint) paths(root string, out object) {
	plural := e.resource.Plural
	watch := root + "/watch"
	all, collection, watched := root+"/"+plural, root+"/"+plural, watch+"/"+plural
	if !e.resource.ClusterScoped {
		collection, watched = root+"/namespaces/{namespace}/"+plural, watch+"/namespaces/{namespace}/"+plural
		out[all] = object{"get": e.listAll(), "parameters": e.params(e.listParameters(true), e.pretty())}
		out[watch+"/"+plural] = object{"get": e.watchAll(), "parameters": e.params(e.listParameters(true), e.pretty())}
	}
	if e.resource.Virtual() {
		e.virtualPaths(all, collection, watch+"/"+plural, watched, out)
		e.extensionPaths(collection+"/{name}", out)
		return
	}
	out[collection] = object{
		"get": e.listOne(), "post": e.create(), "delete": e.deleteCollection(),
		"parameters": e.params(e.namespace(), e.pretty()),
	}
	out[collection+"/{name}"] = object{
		"get": e.read(""), "put": e.replace(""), "patch": e.patch(""), "delete": e.delete(),
		"parameters": e.params(e.name(), e.namespace(), e.pretty()),
	}
	e.extensionPaths(collection+"/{name}", out)
	if e.resource.Status {
		out[collection+"/{name}/status"] = object{
			"get": e.read("status"), "put": e.replace("status"), "patch": e.patch("status"),
			"parameters": e.params(e.name(), e.namespace(), e.pretty()),
		}
	}
	out[watched] = object{"get": e.watchList(), "parameters": e.params(e.listParameters(true), e.namespace(), e.pretty())}
	out[watched+"/{name}"] = object{"get": e.watchOne(), "parameters": e.params(e.listParameters(true), e.name(), e.namespace(), e.pretty())}
}

// id is an operation's: verb, group, version, an infix, the scope, the kind and a suffix.
func (e endpoint) id(verb, infix, suffix string) string {
	scope := "Namespaced"
	if e.resource.ClusterScoped {
		scope = ""
	}
	return verb + operationGroup(e.group.Name, e.version.Name) + infix + scope + e.resource.Kind + suffix
}

// allID is that of an operation across namespaces.
func (e endpoint) allID(verb, suffix string) string {
	return verb + operationGroup(e.group.Name, e.version.Name) + e.resource.Kind + suffix + "ForAllNamespaces"
}

// operation is what all operations on the resource have.
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

// of is the part of a description that names the subresource.
func of(subresource string) string {
	if subresource == "" {
		return ""
	}
	return subresource + " of "
}
