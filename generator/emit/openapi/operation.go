package openapi

// The media types that the server takes and gives.
const (
	jsonType = "application/json"
	yamlType = "application/yaml"
	cborType = "application/cbor"

	watchType     = "application/json;stream=watch"
	cborWatchType = "application/cbor-seq"
)

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
	o := e.operation(e.id("create", "", ""), "post", "create "+article(e.resource.Kind), responses(e.object, false,
		"200", "201", "202"))
	o["parameters"] = e.writeParameters()
	o["requestBody"] = body(e.object, jsonType, yamlType, cborType)
	return o
}

func (e endpoint) deleteCollection() object {
	o := e.operation(e.id("delete", "Collection", ""), "deletecollection", "delete collection of "+e.resource.Kind,
		responses(e.metaRef("Status"), false, "200"))
	o["parameters"] = e.params(e.listParameters(false), e.deleteParameters())
	o["requestBody"] = body(e.metaRef("DeleteOptions"), jsonType, yamlType, cborType)
	return o
}

func (e endpoint) read(subresource string) object {
	text := "read the specified " + e.resource.Kind
	if subresource != "" {
		text = "read " + subresource + " of the specified " + e.resource.Kind
	}
	return e.operation(e.id("read", "", upperFirst(subresource)), "get", text, responses(e.object, false, "200"))
}

func (e endpoint) replace(subresource string) object {
	o := e.operation(e.id("replace", "", upperFirst(subresource)), "put",
		"replace "+of(subresource)+"the specified "+e.resource.Kind, responses(e.object, false, "200", "201"))
	o["parameters"] = e.writeParameters()
	o["requestBody"] = body(e.object, jsonType, yamlType, cborType)
	return o
}

func (e endpoint) patch(subresource string) object {
	o := e.operation(e.id("patch", "", upperFirst(subresource)), "patch", "partially update "+of(subresource)+"the "+
		"specified "+e.resource.Kind, responses(e.object, false, "200", "201"))
	o["parameters"] = e.params(e.writeParameters(), e.queries("PatchOptions", "force"))
	types := []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
		"application/apply-patch+cbor"}
	if mergeable(e.types.Type(e.resource.kind)) {
		types = append(types, "application/strategic-merge-patch+json")
	}
	o["requestBody"] = body(e.metaRef("Patch"), types...)
	return o
}

func (e endpoint) delete() object {
	o := e.operation(e.id("delete", "", ""), "delete", "delete "+article(e.resource.Kind),
		responses(e.metaRef("Status"), false, "200", "202"))
	o["parameters"] = e.params(e.deleteParameters())
	o["requestBody"] = body(e.metaRef("DeleteOptions"), jsonType, yamlType, cborType)
	return o
}

// deprecatedWatch ends the description of the watch paths, which are older than the parameter.
const deprecatedWatch = " deprecated: use the 'watch' parameter with a list operation instead"

func (e endpoint) watchAll() object {
	return e.watch(e.allID("watch", "List"), "watchlist",
		"watch individual changes to a list of "+e.resource.Kind+"."+deprecatedWatch+".")
}

func (e endpoint) watchList() object {
	return e.watch(e.id("watch", "", "List"), "watchlist",
		"watch individual changes to a list of "+e.resource.Kind+"."+deprecatedWatch+".")
}

func (e endpoint) watchOne() object {
	return e.watch(e.id("watch", "", ""), "watch", "watch changes to an object of kind "+
		""+e.resource.Kind+"."+deprecatedWatch+", filtered to a single item with the 'fieldSelector' parameter.")
}

func (e endpoint) watch(id, action, description string) object {
	return e.operation(id, action, description, responses(e.metaRef("WatchEvent"), true, "200"))
}

// responses answer with the schema under each of the codes, and 401.
func responses(schema object, watch bool, codes ...string) object {
	names := map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}
	out := object{"401": object{"description": "Unauthorized"}}
	for _, code := range codes {
		types := []string{jsonType, yamlType, cborType}
		if watch {
			types = append(types, watchType, cborWatchType)
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
