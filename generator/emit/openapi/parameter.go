package openapi

import (
	"slices"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/schema"
)

// queries are query parameters: fields of one of metav1's types of options.
type queries struct {
	options string
	names   []string
}

var (
	writing  = queries{"PatchOptions", []string{"dryRun", "fieldManager", "fieldValidation"}}
	forcing  = queries{"PatchOptions", []string{"force"}}
	deletion = queries{"DeleteOptions", []string{"dryRun", "gracePeriodSeconds", "orphanDependents",
		"propagationPolicy"}}
	selection = queries{"ListOptions", []string{"continue", "fieldSelector", "labelSelector", "limit",
		"resourceVersion", "resourceVersionMatch", "sendInitialEvents", "timeoutSeconds"}}
	watching = queries{"ListOptions", []string{"allowWatchBookmarks", "watch"}}
)

// queries returns query parameters with metav1's own documentation.
func (e endpoint) queries(all ...queries) []object {
	var out []object
	for _, q := range all {
		for _, f := range e.meta.root(q.options).Fields {
			if slices.Contains(q.names, f.JSON) {
				out = append(out, query(f.JSON, optionType(f.Type), description(f.Doc)))
			}
		}
	}
	return out
}

// params joins lists of parameters and sorts them by name, as kube-apiserver's documents have them.
func (e endpoint) params(lists ...[]object) []object {
	out := append([]object{}, slices.Concat(lists...)...)
	slices.SortStableFunc(out, func(a, b object) int {
		return strings.Compare(a["name"].(string), b["name"].(string))
	})
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

func pretty() []object {
	return []object{query("pretty", "string", "Indent the JSON of the answer, where this is 'true'.")}
}

// optionQueries returns the query parameters for the fields of an options type, except one. It leaves out the fields of
// metav1's options, which are not the subresource's.
func (e endpoint) optionQueries(t *model.Type, without string) (out []object) {
	for _, f := range t.Fields {
		inner := f.Type.Pointee()
		inlined := f.Inline && inner.Form == model.Struct
		switch {
		case f.Ignored || !f.Exported || f.JSON == without && without != "":
		case inlined && inner.Package != nil && inner.Package.Path == schema.MetaPath:
		case inlined:
			out = append(out, e.optionQueries(inner, without)...)
		default:
			out = append(out, query(f.JSON, optionType(f.Type), description(f.Doc)))
		}
	}
	return out
}

// optionType returns the JSON type of one value of a query parameter.
func optionType(t *model.Type) string {
	t = t.Pointee()
	if t.Form == model.Slice && t.Package == nil {
		t = t.Elem
	}
	if t.Form != model.Basic {
		return "string"
	}
	return string(schema.Basics[t.Basic].JSON)
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
