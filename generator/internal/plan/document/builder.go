package document

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// builder makes the document of one version. Schemas are made as they are referred to.
type builder struct {
	program *model.Program
	group   *model.Group
	version *model.Version
	meta    *meta
	types   *schema.Resolver

	payloads map[*model.Type]object // the kinds of subresources, and their group, version and kind
	kinds    map[*model.Type]string // the kinds and list kinds of the version, and what they are called
	done     map[string]object      // components.schemas
	queue    []*model.Type
	// unfinished holds the named types whose schemas are being written in place, to detect types that contain
	// themselves.
	unfinished map[*schema.Type]bool
	// custom: the kinds are treated as custom resources, whose JSON has no zero values that nobody sent. writesZeros:
	// that of the component that is being made has some, as the metadata of all objects. inside: the component is a
	// part of a custom resource, and no kind.
	custom, writesZeros, inside bool
}

// metaPrefix begins the names of the types of metadata, beside which there are conditions.
const metaPrefix = "io.k8s.apimachinery.pkg.apis.meta."

func newBuilder(p *model.Program, g *model.Group, v *model.Version) *builder {
	b := &builder{
		program: p, group: g, version: v, meta: newMeta(), types: schema.New(schema.OpenAPI),
		kinds: map[*model.Type]string{}, payloads: map[*model.Type]object{}, done: map[string]object{},
		unfinished: map[*schema.Type]bool{},
		custom:     slices.ContainsFunc(v.Packages, (*model.Package).HasCustom),
	}
	b.types.Replace = b.documented
	for _, r := range b.resources() {
		b.kinds[r.kind] = r.Kind
		b.kinds[r.list] = r.ListKind
	}
	return b
}

type served struct {
	*model.Resource
	kind, list *model.Type
}

func (b *builder) resources() []served {
	var out []served
	for _, r := range b.group.Resources {
		for _, v := range r.Served() {
			if v.Version == b.version {
				out = append(out, served{Resource: r, kind: v.Type, list: b.listType(r, v.Type)})
			}
		}
	}
	return out
}

// listType returns the list type of a kind: the package's, or one of the usual form if it declares none.
func (b *builder) listType(r *model.Resource, kind *model.Type) *model.Type {
	if kind.Kind != nil && kind.Kind.ListType != nil {
		return kind.Kind.ListType
	}
	for t, name := range b.kinds { // made before
		if name == r.ListKind && t.ListOf == kind {
			return t
		}
	}
	list := &model.Type{Name: r.ListKind, Package: kind.Package, Form: model.Struct, ListOf: kind, Doc: r.ListKind +
		" is a list of " + r.Kind + "."}
	list.Fields = []*model.Field{
		{Name: "TypeMeta", Type: b.meta.root("TypeMeta"), Embedded: true, Inline: true, Exported: true},
		{Name: "ListMeta", JSON: "metadata", Type: b.meta.root("ListMeta"), Embedded: true, OmitEmpty: true,
			Exported: true},
		{Name: "Items", JSON: "items", Type: &model.Type{Form: model.Slice, Elem: kind}, Exported: true},
	}
	return list
}

// components returns all schemas that the document refers to, directly and indirectly.
func (b *builder) components() map[string]object {
	for len(b.queue) > 0 {
		t := b.queue[0]
		b.queue = b.queue[1:]
		b.done[Name(t)] = b.component(t)
	}
	return b.done
}

// ref refers to the schema of a named type, which is made later.
func (b *builder) ref(t *model.Type) object {
	name := Name(t)
	if _, ok := b.done[name]; !ok {
		b.done[name] = object{}
		b.queue = append(b.queue, t)
	}
	return object{"$ref": componentPrefix + name}
}

func (b *builder) metaRef(name string) object { return b.ref(b.meta.root(name)) }

func (b *builder) component(t *model.Type) object {
	resolved := b.types.Type(t)
	b.writesZeros = !b.custom || strings.HasPrefix(Name(t), metaPrefix) && t.Name != "Condition"
	kinds := b.groupVersionKinds(t)
	b.inside = !b.writesZeros && kinds == nil
	b.unfinished[resolved] = true
	s := b.form(resolved)
	delete(b.unfinished, resolved)
	if text := descriptions[resolved.Known]; text != "" {
		s["description"] = text
		return s
	}
	text(s, "description", description(resolved.Go.Doc))
	b.layers(s, resolved)
	if b.kinds[t] != "" {
		describeMetadata(s)
	}
	if kinds != nil {
		s[kindsKey] = kinds
	}
	return s
}

func describeMetadata(kind object) {
	properties, _ := kind["properties"].(object)
	if metadata, ok := properties["metadata"].(object); ok && metadata["description"] == nil {
		properties["metadata"] = overlay(metadata,
			object{"description": "Standard metadata: name, namespace, labels, resourceVersion and so on."})
	}
}

// structure returns the schema of a struct. CEL rules of the structs that it inlines apply to the whole of it.
func (b *builder) structure(t *schema.Type) object {
	s := object{"type": "object"}
	properties, required := object{}, []string{}
	for _, p := range t.Properties() {
		properties[p.Go.JSON] = b.property(p.Field)
		if p.Required {
			required = append(required, p.Go.JSON)
		}
	}
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		s["required"] = required
	}
	for _, f := range t.Inlines() {
		inlined := &f.Inlined().Go.Schema
		validations(s, inlined)
		if kind := schema.Keywords(inlined)["x-kubernetes-map-type"]; kind != nil && b.custom {
			s["x-kubernetes-map-type"] = kind // as controller-gen has it, and openapi-gen doesn't
		}
	}
	return s
}

// documented replaces a type of apimachinery by the same type with its documentation.
func (b *builder) documented(t *model.Type) *model.Type {
	if t.Package != nil && t.Name != "" {
		if found := b.meta.named(t.Package.Path, t.Name); found != nil {
			return found
		}
	}
	return t
}

func gvk(group, version, kind string) object {
	return object{"group": group, "version": version, "kind": kind}
}

// groupVersionKinds returns the extension by which clients find the schema of a kind.
func (b *builder) groupVersionKinds(t *model.Type) []any {
	if kind := b.kinds[t]; kind != "" {
		return []any{gvk(b.group.Name, b.version.Name, kind)}
	}
	if payload := b.payloads[t]; payload != nil {
		return []any{payload}
	}
	if t.Package == nil || t.Package.Path != schema.MetaPath {
		return nil
	}
	switch t.Name {
	case "Status", "APIResourceList":
		return []any{gvk("", "v1", t.Name)}
	case "DeleteOptions", "WatchEvent":
		if b.group.Name == "" && b.version.Name == "v1" {
			return []any{gvk("", "v1", t.Name)}
		}
		return []any{gvk("", "v1", t.Name), gvk(b.group.Name, b.version.Name, t.Name)}
	}
	return nil
}

// Schemas returns the schemas of kinds of one version, and all schemas that they refer to, by name, as in the version's
// document.
func Schemas(
	p *model.Program, g *model.Group, v *model.Version, kinds []*model.Type,
) map[string]map[string]any {
	b := newBuilder(p, g, v)
	for _, t := range kinds {
		b.ref(t)
	}
	return b.components()
}

// SchemeName returns the name under which a scheme of apimachinery looks up the schema of a registered type: that of
// Name, if the type has a method OpenAPIModelName that returns it, else the name made of its import path.
func SchemeName(t *model.Type) string {
	if t.Methods["OpenAPIModelName"] != nil {
		return Name(t)
	}
	return restful(t.Package.Path) + "." + t.Name
}

// scaleName begins the names of the schemas of autoscaling/v1 Scale, as in kube-apiserver.
const scaleName = "io.k8s.api.autoscaling.v1.Scale"

var scaleKind = gvk("autoscaling", "v1", "Scale")

// scaleRef refers to the schema of Scale, which is the runtime's own.
func (b *builder) scaleRef() object {
	ref := func(suffix string) object { return object{"$ref": componentPrefix + scaleName + suffix} }
	if b.done[scaleName] != nil {
		return ref("")
	}
	number := func(description string) object {
		return object{"type": "integer", "format": "int32", "description": description, "default": 0}
	}
	text := func(description string) object { return object{"type": "string", "description": description} }
	member := func(schema object, description string) object {
		return object{"allOf": []any{schema}, "default": object{}, "description": description}
	}
	b.done[scaleName] = object{
		"type":        "object",
		"description": "Scale is how many replicas of something are wanted, and how many there are.",
		"properties": object{
			"apiVersion": text("APIVersion is the version of this representation of the object: autoscaling/v1."),
			"kind":       text("Kind is what the object is: Scale."),
			"metadata":   member(b.metaRef("ObjectMeta"), "Standard metadata: that of the object that is scaled."),
			"spec":       member(ref("Spec"), "Spec is how many replicas are wanted."),
			"status":     member(ref("Status"), "Status is how many replicas there are. It is read-only."),
		},
		kindsKey: []any{scaleKind},
	}
	b.done[scaleName+"Spec"] = object{
		"type": "object", "description": "ScaleSpec is how many replicas are wanted.",
		"properties": object{"replicas": number("Replicas is the number that is wanted.")},
	}
	b.done[scaleName+"Status"] = object{
		"type": "object", "description": "ScaleStatus is how many replicas there are.",
		"properties": object{
			"replicas": number("Replicas is the number that there is."),
			"selector": text("Selector is what selects the replicas, as the labelSelector of a list is written."),
		},
		"required": []any{"replicas"},
	}
	return ref("")
}
