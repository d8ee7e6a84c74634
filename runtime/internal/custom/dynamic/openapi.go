package dynamic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/jsondoc"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Template is made of the OpenAPI v3 document of apiextensions.k8s.io/v1, and of the OpenAPI v2 document of its group.
// The documents of custom resources have their paths, under their own names, and their schemas of metadata.
type Template struct{ openAPI, swagger templateDocument }

// templateDocument is a document, and what the first document that is made of it reads there.
type templateDocument struct {
	hash string
	read func() (*templateParts, error)
}

type templateParts struct{ paths, schemas map[string]json.RawMessage }

// NewTemplate returns the template of these documents.
func NewTemplate(openAPI, swagger api.Document) Template {
	of := func(document api.Document) templateDocument {
		return templateDocument{document.Hash, sync.OnceValues(func() (*templateParts, error) {
			parts, err := readTemplate(document)
			if err != nil {
				return nil, fmt.Errorf("the template of documents: %w", err)
			}
			return parts, nil
		})}
	}
	return Template{of(openAPI), of(swagger)}
}

// readTemplate reads a document of either version of OpenAPI. The keys of the parts are sorted, as templateGVK has
// them.
func readTemplate(document api.Document) (*templateParts, error) {
	data, err := document.JSON()
	if err != nil {
		return nil, err
	}
	var all any
	if err := json.Unmarshal(data, &all); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(all); err != nil {
		return nil, err
	}
	var template struct {
		Paths       map[string]json.RawMessage            `json:"paths"`
		Components  map[string]map[string]json.RawMessage `json:"components"`
		Definitions map[string]json.RawMessage            `json:"definitions"`
	}
	if err := json.Unmarshal(data, &template); err != nil {
		return nil, err
	}
	parts := &templateParts{template.Paths, template.Components["schemas"]}
	if template.Definitions != nil {
		parts.schemas = template.Definitions
	}
	return parts, nil
}

// edition is raised with each change of this file that makes another document: clients keep documents by their hashes.
const edition = 2

// The names of the template, in the order in which they are replaced: the longer one first.
const (
	templateSchema = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition"
	templateGVK    = `"group":"apiextensions.k8s.io","kind":"CustomResourceDefinition","version":"v1"`
	templatePath   = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
	machinery      = "io.k8s.apimachinery."
	objectMeta     = machinery + "pkg.apis.meta.v1.ObjectMeta"
	listMeta       = machinery + "pkg.apis.meta.v1.ListMeta"
	references     = "#/components/schemas/"
)

// describer makes the document of a version.
type describer struct {
	*kindVersion
	names      apiextensionsv1.CustomResourceDefinitionNames
	namespaced bool
}

// document returns the OpenAPI v3 document of the version, which is made when it is first asked for.
func (d describer) document(t Template) api.Document {
	return jsondoc.Deferred(d.source(t.openAPI.hash), func() ([]byte, error) {
		template, err := t.openAPI.read()
		if err != nil {
			return nil, err
		}
		schemas, err := d.schemas(template.schemas)
		if err != nil {
			return nil, err
		}
		paths, err := d.paths(template.paths)
		if err != nil {
			return nil, err
		}
		return json.Marshal(map[string]any{
			"openapi": "3.0.0", "info": map[string]string{"title": "Kubernetes CRD Swagger", "version": "v0.1.0"},
			"paths": paths, "components": map[string]any{"schemas": schemas},
		})
	})
}

// source is what a document follows from; template is the hash of its template.
func (d describer) source(template string) []byte {
	source, err := json.Marshal([]any{edition, d.gvk, d.names, d.namespaced, d.spec, d.preserve,
		d.definition.document.Hash, template})
	if err != nil {
		return []byte(d.definition.document.Hash) // all of it was decoded from JSON
	}
	return source
}

// schemaName is the name of the schema: com.example.shop.v1.Widget.
func (v *kindVersion) schemaName() string {
	parts := strings.Split(v.gvk.Group, ".")
	slices.Reverse(parts)
	return strings.Join(append(parts, v.gvk.Version, v.gvk.Kind), ".")
}

// schemas returns the schemas of the kind and its list, and those of metadata.
func (d describer) schemas(template map[string]json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	for name, schema := range template {
		if strings.HasPrefix(name, machinery) {
			out[name] = json.RawMessage(strings.ReplaceAll(string(schema), `"group":"apiextensions.k8s.io"`,
				fmt.Sprintf(`"group":%q`, d.gvk.Group)))
		}
	}
	of, err := d.definition.tree()
	if err != nil {
		return nil, err
	}
	if d.preserve {
		of["x-kubernetes-preserve-unknown-fields"] = true
	}
	complete(of)
	addKind(of)
	gvk := func(kind string) []map[string]string {
		return []map[string]string{{"group": d.gvk.Group, "version": d.gvk.Version, "kind": kind}}
	}
	of["x-kubernetes-group-version-kind"] = gvk(d.gvk.Kind)
	var selectable []map[string]string
	for _, f := range d.spec.SelectableFields {
		selectable = append(selectable, map[string]string{"fieldPath": strings.TrimPrefix(f.JSONPath, ".")})
	}
	if selectable != nil {
		of["x-kubernetes-selectable-fields"] = selectable
	}
	out[d.schemaName()] = of
	out[d.schemaName()+"List"] = map[string]any{
		"description": fmt.Sprintf("%s is a list of %s", d.names.ListKind, d.gvk.Kind), "type": "object",
		"required": []string{"items"},
		"properties": map[string]any{
			"apiVersion": apiVersionSchema, "kind": kindSchema, "metadata": metadataSchema(listMeta),
			"items": map[string]any{
				"type": "array", "items": map[string]any{"$ref": references + d.schemaName()},
				"description": "List of " + d.names.Plural + ". More info: https://git.k8s.io/community/contributors/" +
					"devel/sig-architecture/api-conventions.md",
			},
		},
		"x-kubernetes-group-version-kind": gvk(d.names.ListKind),
	}
	if d.spec.Subresources != nil && d.spec.Subresources.Scale != nil {
		maps.Copy(out, scaleSchemas)
	}
	return out, nil
}

var (
	apiVersionSchema = map[string]any{
		"type": "string", "description": "APIVersion defines the versioned schema of this representation of an " +
			"object. Servers should convert recognized schemas to the latest internal value, and may reject " +
			"unrecognized values. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/" +
			"api-conventions.md#resources",
	}
	kindSchema = map[string]any{
		"type": "string", "description": "Kind is a string value representing the REST resource this object " +
			"represents. Servers may infer this from the endpoint the client submits requests to. Cannot be " +
			"updated. In CamelCase. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/" +
			"api-conventions.md#types-kinds",
	}
)

// The same of objects that are embedded in others.
var (
	embeddedVersionSchema = map[string]any{
		"type": "string",
		"description": "apiVersion defines the versioned schema of this representation of an object. More info: " +
			"https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#resources",
	}
	embeddedKindSchema = map[string]any{
		"type": "string",
		"description": "kind is a string value representing the type of this object. In CamelCase. More info: " +
			"https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#types-kinds",
	}
)

func metadataSchema(name string) map[string]any {
	return map[string]any{
		"description": "Standard object's metadata. More info: https://git.k8s.io/community/contributors/devel/" +
			"sig-architecture/api-conventions.md#metadata",
		"allOf": []map[string]string{{"$ref": references + name}},
	}
}

// addKind adds apiVersion, kind and metadata to the schema of a kind.
func addKind(schema map[string]any) {
	members, _ := schema["properties"].(map[string]any)
	if members == nil {
		members = map[string]any{}
		schema["properties"] = members
	}
	members["apiVersion"], members["kind"] = apiVersionSchema, kindSchema
	members["metadata"] = metadataSchema(objectMeta)
}

// complete adds to a schema, and to those in it, what kube-apiserver publishes although definitions needn't say it: the
// members of embedded objects, which must have a kind and an apiVersion, and the types of int-or-string.
func complete(schema any) {
	s, ok := schema.(map[string]any)
	if !ok {
		return
	}
	members, _ := s["properties"].(map[string]any)
	for _, member := range members {
		complete(member)
	}
	complete(s["items"])
	complete(s["additionalProperties"])
	if s["x-kubernetes-int-or-string"] == true {
		addTypes(s)
	}
	if s["x-kubernetes-embedded-resource"] == true {
		addKind(s)
		members, _ = s["properties"].(map[string]any)
		members["apiVersion"], members["kind"] = embeddedVersionSchema, embeddedKindSchema
		required, _ := s["required"].([]any)
		for _, name := range []any{"kind", "apiVersion"} {
			if !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		s["required"] = required
	}
}

// intOrString are the types of a value that is one of both.
func intOrString() []any {
	return []any{map[string]any{"type": "integer"}, map[string]any{"type": "string"}}
}

// addTypes adds the types of int-or-string to a schema that doesn't have them in one of the two places where a
// definition may write them.
func addTypes(s map[string]any) {
	all, _ := s["allOf"].([]any)
	if len(all) > 0 {
		first, _ := all[0].(map[string]any)
		if reflect.DeepEqual(first["anyOf"], intOrString()) {
			return
		}
	}
	switch {
	case reflect.DeepEqual(s["anyOf"], intOrString()):
	case s["anyOf"] == nil:
		s["anyOf"] = intOrString()
	default:
		s["allOf"] = append([]any{map[string]any{"anyOf": intOrString()}}, all...)
	}
}

// scaleSchemas are those of the kind Scale of autoscaling/v1.
var scaleSchemas = func() map[string]any {
	const name = "io.k8s.api.autoscaling.v1.Scale"
	integer := map[string]any{"type": "integer", "format": "int32"}
	object := func(properties map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": properties}
	}
	scale := object(map[string]any{
		"apiVersion": apiVersionSchema, "kind": kindSchema, "metadata": metadataSchema(objectMeta),
		"spec":   map[string]any{"$ref": references + name + "Spec"},
		"status": map[string]any{"$ref": references + name + "Status"},
	})
	scale["x-kubernetes-group-version-kind"] = []map[string]string{
		{"group": "autoscaling", "version": "v1", "kind": "Scale"},
	}
	return map[string]any{
		name: scale, name + "Spec": object(map[string]any{"replicas": integer}),
		name + "Status": object(map[string]any{"replicas": integer, "selector": map[string]any{"type": "string"}}),
	}
}()

// paths returns the paths of the resource, made of those of the template.
func (d describer) paths(template map[string]json.RawMessage) (map[string]any, error) {
	out := map[string]any{}
	root := fmt.Sprintf("/apis/%s/%s/", d.gvk.Group, d.gvk.Version)
	within := root
	if d.namespaced {
		within += "namespaces/{namespace}/"
	}
	collection := within + d.names.Plural
	add := func(path, of string) (item map[string]any, err error) {
		if item, err = d.pathItem(template[templatePath+of]); err == nil {
			out[path] = item
		}
		return item, err
	}
	list, err := add(collection, "")
	if err != nil {
		return nil, err
	}
	if d.namespaced {
		all := maps.Clone(list)
		delete(all, "post")
		delete(all, "delete")
		if get, ok := all["get"].(map[string]any); ok {
			get = maps.Clone(get)
			get["operationId"] = "list" + d.operation("") + d.gvk.Kind + "ForAllNamespaces"
			all["get"] = get
		}
		all["parameters"] = slices.DeleteFunc(slices.Clone(list["parameters"].([]any)), isNamespace)
		out[root+d.names.Plural] = all
	}
	if _, err := add(collection+"/{name}", "/{name}"); err != nil {
		return nil, err
	}
	if d.spec.Subresources == nil {
		return out, nil
	}
	if d.spec.Subresources.Status != nil {
		if _, err := add(collection+"/{name}/status", "/{name}/status"); err != nil {
			return nil, err
		}
	}
	if d.spec.Subresources.Scale != nil {
		text := strings.NewReplacer(
			templateSchema, "io.k8s.api.autoscaling.v1.Scale", templateGVK,
			`"group":"autoscaling","kind":"Scale","version":"v1"`,
			"CustomResourceDefinitionStatus", "CustomResourceDefinitionScale", " status of ", " scale of ",
		).Replace(string(template[templatePath+"/{name}/status"]))
		item, err := d.pathItem(json.RawMessage(text))
		if err != nil {
			return nil, err
		}
		out[collection+"/{name}/scale"] = item
	}
	return out, nil
}

func isNamespace(parameter any) bool {
	p, _ := parameter.(map[string]any)
	return p["name"] == "namespace"
}

// operation is what the names of operations have in front of the kind: ShopExampleComV1Namespaced.
func (d describer) operation(namespaced string) string {
	var out strings.Builder
	for part := range strings.FieldsFuncSeq(d.gvk.Group, func(r rune) bool { return r == '.' || r == '-' }) {
		out.WriteString(title(part))
	}
	return out.String() + title(d.gvk.Version) + namespaced
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// pathItem returns an item of the template for the resource.
func (d describer) pathItem(template json.RawMessage) (map[string]any, error) {
	namespaced := ""
	if d.namespaced {
		namespaced = "Namespaced"
	}
	prefix := d.operation("")
	tag := strings.ToLower(prefix[:1]) + strings.TrimSuffix(prefix[1:], title(d.gvk.Version)) + "_" + d.gvk.Version
	text := strings.NewReplacer(
		templateSchema, d.schemaName(),
		templateGVK, fmt.Sprintf(`"group":%q,"kind":%q,"version":%q`, d.gvk.Group, d.gvk.Kind, d.gvk.Version),
		"ApiextensionsV1CollectionCustomResourceDefinition", prefix+"Collection"+namespaced+d.gvk.Kind,
		"ApiextensionsV1CustomResourceDefinition", prefix+namespaced+d.gvk.Kind,
		`"apiextensions_v1"`, fmt.Sprintf("%q", tag),
		"CustomResourceDefinition", d.gvk.Kind,
	).Replace(string(template))
	var item map[string]any
	if err := json.Unmarshal([]byte(text), &item); err != nil {
		return nil, fmt.Errorf("the template of paths: %w", err)
	}
	dropContents(item)
	if d.namespaced {
		parameters, _ := item["parameters"].([]any)
		namespace := map[string]any{
			"description": "object name and auth scope, such as for teams and projects", "in": "path",
			"name": "namespace", "required": true,
		}
		kind := map[string]any{"type": "string", "uniqueItems": true}
		if bytes.Contains(template, []byte(definitions)) { // in OpenAPI v2, a parameter has its type itself
			maps.Copy(namespace, kind)
		} else {
			namespace["schema"] = kind
		}
		item["parameters"] = append(slices.Clone(parameters), namespace)
	}
	return item, nil
}

func isForeign(mediaType string) bool {
	return strings.Contains(mediaType, "protobuf") || strings.Contains(mediaType, "strategic")
}

// dropContents removes the media types that custom resources don't have.
func dropContents(v any) {
	switch v := v.(type) {
	case map[string]any:
		if content, ok := v["content"].(map[string]any); ok {
			maps.DeleteFunc(content, func(mediaType string, _ any) bool { return isForeign(mediaType) })
		}
		for _, name := range []string{"consumes", "produces"} {
			if types, ok := v[name].([]any); ok {
				v[name] = slices.DeleteFunc(types, func(t any) bool { return isForeign(fmt.Sprint(t)) })
			}
		}
		for _, member := range v {
			dropContents(member)
		}
	case []any:
		for _, item := range v {
			dropContents(item)
		}
	}
}
