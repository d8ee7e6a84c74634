package openapi

import (
	"sort"
)

// params joins lists of parameters and sorts them by name, as kube-apiserver's documents have them.
func (e endpoint) params(lists ...[]object) []object {
	out := []object{}
	for _, l := range lists {
		out = append(out, l...)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i]["name"].(string) < out[j]["name"].(string) })
	return out
}

// name, namespace and pretty return the parameters of paths.
func (e endpoint) name() []object {
	return []object{inPath("name", "name of the "+e.resource.Kind)}
}

func (e endpoint) namespace() []object {
	if e.resource.ClusterScoped {
		return nil
	}
	return []object{inPath("namespace", "object name and auth scope, such as for teams and projects")}
}

func (e endpoint) pretty() []object {
	return []object{query("pretty", "string", "Indent the JSON of the answer, where this is 'true'.")}
}

// writeParameters returns the parameters of create, replace and patch, with metav1's own documentation.
func (e endpoint) writeParameters() []object {
	return e.params(e.queries("PatchOptions", "dryRun", "fieldManager", "fieldValidation"))
}

func (e endpoint) deleteParameters() []object {
	return e.queries("DeleteOptions", "dryRun", "gracePeriodSeconds", "orphanDependents", "propagationPolicy")
}

// listParameters returns the parameters of lists, and of watches where watch is set.
func (e endpoint) listParameters(watch bool) []object {
	names := []string{"continue", "fieldSelector", "labelSelector", "limit", "resourceVersion",
		"resourceVersionMatch", "sendInitialEvents", "timeoutSeconds"}
	if watch {
		names = append(names, "allowWatchBookmarks", "watch")
	}
	return e.queries("ListOptions", names...)
}

// queries returns query parameters for fields of metav1's type of that name.
func (e endpoint) queries(options string, names ...string) []object {
	var out []object
	t := e.meta.root(options)
	for _, name := range names {
		for _, f := range t.Fields {
			if f.JSON == name {
				out = append(out, query(name, optionType(f.Type), description(f.Doc)))
			}
		}
	}
	return out
}

func query(name, typ, description string) object {
	return object{"name": name, "in": "query", "description": description, "schema": object{"type": typ,
		"uniqueItems": true}}
}

func inPath(name, description string) object {
	p := query(name, "string", description)
	p["in"], p["required"] = "path", true
	return p
}
