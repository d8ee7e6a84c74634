package document

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
	"apigen.dev/generator/internal/spelling"
)

// The media types that the server takes and gives.
const (
	jsonType     = "application/json"
	yamlType     = "application/yaml"
	cborType     = "application/cbor"
	protobufType = "application/vnd.kubernetes.protobuf"
)

var (
	objectTypes = []string{jsonType, yamlType, cborType}
	streamTypes = []string{jsonType, yamlType, cborType, jsonType + ";stream=watch", "application/cbor-seq"}
)

// verb describes the operation of a verb: the HTTP method, the action, how its id begins, what stands there before the
// scope, and its description. Answer and body are schemas: that of the kind, of its list, or of a type of metav1.
type verb struct {
	method, action, id, infix, description string
	answer, codes, body                    string
	queries                                []queries
}

const ofKind, ofList = "kind", "list"

var verbs = map[string]verb{
	"list": {"get", "list", "list", "", "list or watch objects of kind {kind}", ofList, "200", "",
		[]queries{selection, watching}},
	"create": {"post", "post", "create", "", "create {a kind}", ofKind, "200 201 202", ofKind, []queries{writing}},
	"get":    {"get", "get", "read", "", "read {the kind}", ofKind, "200", "", nil},
	"update": {"put", "put", "replace", "", "replace {the kind}", ofKind, "200 201", ofKind, []queries{writing}},
	"patch": {"patch", "patch", "patch", "", "partially update {the kind}", ofKind, "200 201", "Patch",
		[]queries{writing, forcing}},
	"delete": {"delete", "delete", "delete", "", "delete {a kind}", "Status", "200 202", "DeleteOptions",
		[]queries{deletion}},
	"deletecollection": {"delete", "deletecollection", "delete", "Collection", "delete collection of {kind}", "Status",
		"200", "DeleteOptions", []queries{selection, deletion}},
}

// verb returns the operation of a verb on the object, or on a part of it that has the form of the object.
func (e endpoint) verb(name, subresource string) object {
	v, kind, bodies, answers := verbs[name], e.resource.Kind, e.types, e.types
	the := "the specified " + kind
	if subresource != "" {
		the = subresource + " of " + the
	}
	switch name {
	case "list":
		answers = e.streams
	case "patch":
		bodies = []string{"application/json-patch+json", "application/merge-patch+json", "application/apply-patch+yaml",
			"application/apply-patch+cbor"}
		if mergeable(e.builder.types.Type(e.resource.kind)) {
			bodies = append(bodies, "application/strategic-merge-patch+json")
		}
	}
	o := e.operation(e.id(v.id, v.infix, spelling.UpperFirst(subresource)), v.action,
		strings.NewReplacer("{kind}", kind, "{a kind}", article(kind), "{the kind}", the).Replace(v.description),
		responses(e.schema(v.answer), answers, strings.Fields(v.codes)...))
	if v.queries != nil {
		o["parameters"] = e.params(e.queries(v.queries...))
	}
	if v.body != "" {
		o["requestBody"] = content(e.schema(v.body), bodies...)
	}
	return o
}

func (e endpoint) schema(name string) object {
	switch name {
	case ofKind:
		return e.object
	case ofList:
		return e.list
	}
	return e.metaRef(name)
}

// watch returns the operation of a path that only watches. Such paths are older than the parameter watch of lists.
func (e endpoint) watch(id, action, description string) object {
	description += e.resource.Kind + ". deprecated: use the 'watch' parameter with a list operation instead"
	if action == "watch" {
		description += ", filtered to a single item with the 'fieldSelector' parameter"
	}
	return e.operation(id, action, description+".", responses(e.metaRef("WatchEvent"), e.streams, "200"))
}

// operation returns an operation with the properties that all operations on the resource have.
func (e endpoint) operation(id, action, description string, responses object) object {
	return object{
		"operationId":         id,
		"description":         description,
		"responses":           responses,
		"tags":                []any{tag(e.group.Name, e.version.Name)},
		"x-kubernetes-action": action,
		kindsKey:              e.kind,
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

// article puts the article before a kind: a Widget.
func article(kind string) string {
	if slices.Contains([]string{"A", "E", "I", "O", "U"}, kind[:min(1, len(kind))]) {
		return "an " + kind
	}
	return "a " + kind
}

// responses returns the schema under each of the codes, and the 401.
func responses(schema object, types []string, codes ...string) object {
	names := map[string]string{"200": "OK", "201": "Created", "202": "Accepted"}
	out := object{"401": object{"description": "Unauthorized"}}
	for _, code := range codes {
		out[code] = content(schema, types...)
		out[code].(object)["description"] = names[code]
	}
	return out
}

// texts returns the responses of an operation that answers with text.
func texts(contentType string) object {
	return responses(object{"type": "string"}, []string{contentType}, "200")
}

// content returns a body with a schema in some media types.
func content(schema object, types ...string) object {
	out := object{}
	for _, t := range types {
		out[t] = object{"schema": schema}
	}
	return object{"content": out}
}

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
