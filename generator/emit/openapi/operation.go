package openapi

import "slices"

// The media types that the server takes and gives.
const (
	jsonType = "application/json"
	yamlType = "application/yaml"
	cborType = "application/cbor"

	watchType     = "application/json;stream=watch"
	cborWatchType = "application/cbor-seq"
)

var objectTypes = []string{jsonType, yamlType, cborType}

func (e endpoint) listAll() object {
	return e.operation(e.allID("list", ""), "list", "list or watch objects of kind "+e.resource.Kind,
		responses(e.list, true, "200"))
}

func (e endpoint) listOne() object {
	o := e.operation(e.id("list", "", ""), "list", "list or watch objects of kind "+e.resource.Kind,
		responses(e.list, true, "200"))
	o["parameters"] = e.params(e.listParameters(true))
	return o
}

func (e endpoint) create() object {
	o := e.operation(e.id("create", "", ""), "post", "create "+article(e.resource.Kind),
		responses(e.object, false, "200", "201", "202"))
	return takes(o, e.writeParameters(), e.object, objectTypes...)
}

func (e endpoint) deleteCollection() object {
	o := e.operation(e.id("delete", "Collection", ""), "deletecollection", "delete collection of "+e.resource.Kind,
		responses(e.metaRef("Status"), false, "200"))
	return takes(o, e.params(e.listParameters(false), e.deleteParameters()), e.metaRef("DeleteOptions"), objectTypes...)
}

func (e endpoint) read(subresource string) object {
	return e.operation(e.id("read", "", upperFirst(subresource)), "get",
		"read "+of(subresource)+"the specified "+e.resource.Kind, responses(e.object, false, "200"))
}

func (e endpoint) replace(subresource string) object {
	o := e.operation(e.id("replace", "", upperFirst(subresource)), "put",
		"replace "+of(subresource)+"the specified "+e.resource.Kind, responses(e.object, false, "200", "201"))
	return takes(o, e.writeParameters(), e.object, objectTypes...)
}

func (e endpoint) patch(subresource string) object {
	o := e.operation(e.id("patch", "", upperFirst(subresource)), "patch",
		"partially update "+of(subresource)+"the specified "+e.resource.Kind, responses(e.object, false, "200", "201"))
	types := []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
		"application/apply-patch+cbor"}
	if mergeable(e.types.Type(e.resource.kind)) {
		types = append(types, "application/strategic-merge-patch+json")
	}
	return takes(o, e.params(e.writeParameters(), e.queries("PatchOptions", "force")), e.metaRef("Patch"), types...)
}

func (e endpoint) delete() object {
	o := e.operation(e.id("delete", "", ""), "delete", "delete "+article(e.resource.Kind),
		responses(e.metaRef("Status"), false, "200", "202"))
	return takes(o, e.params(e.deleteParameters()), e.metaRef("DeleteOptions"), objectTypes...)
}

// watch returns the operation of a path that only watches. Such paths are older than the parameter watch of lists.
func (e endpoint) watch(id, action, description string) object {
	description += e.resource.Kind + ". deprecated: use the 'watch' parameter with a list operation instead"
	if action == "watch" {
		description += ", filtered to a single item with the 'fieldSelector' parameter"
	}
	return e.operation(id, action, description+".", responses(e.metaRef("WatchEvent"), true, "200"))
}

func takes(operation object, parameters []object, schema object, types ...string) object {
	operation["parameters"], operation["requestBody"] = parameters, body(schema, types...)
	return operation
}

// responses returns the schema under each of the codes, and the 401.
func responses(schema object, watch bool, codes ...string) object {
	names := map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}
	out := object{"401": object{"description": "Unauthorized"}}
	for _, code := range codes {
		types := objectTypes
		if watch {
			types = slices.Concat(types, []string{watchType, cborWatchType})
		}
		out[code] = object{"description": names[code], "content": content(schema, types...)}
	}
	return out
}

func body(schema object, types ...string) object {
	return object{"content": content(schema, types...)}
}

func content(schema object, types ...string) object {
	out := object{}
	for _, t := range types {
		out[t] = object{"schema": schema}
	}
	return out
}
