package openapi

import (
	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// builder makes the document of one version. Schemas are made as they are referred to.
type builder struct {
	program *model.Program
	group   *model.Group
	version *model.Version
	errs    *emit.Errors
	meta    *meta

	payloads map[*model.Type]object // the kinds of subresources, and their group, version and kind
	kinds    map[*model.Type]string // the kinds and list kinds of the version, and what they are called
	done     map[string]object      // components.schemas
	queue    []*model.Type
	// under holds the named types that are written in place and not finished, so that one which contains itself is found.
	under map[*model.Type]bool
}

func newBuilder(p *model.Program, g *model.Group, v *model.Version, errs *emit.Errors) *builder {
	b := &builder{program: p, group: g, version: v, errs: errs, meta: newMeta(), kinds: map[*model.Type]string{}, payloads: map[*model.Type]object{}, done: map[string]object{}, under: map[*model.Type]bool{}}
	for _, r := range b.resources() {
		b.kinds[r.kind] = r.Kind
		b.kinds[r.list] = r.ListKind
	}
	return b
}

// served is a resource in the builder's version.
type served struct {
	*model.Resource
	kind, list *model.Type
}

// resources are those that the version serves.
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

// listType is the list of a kind: the package's, or one of the usual form where it declares none.
func (b *builder) listType(r *model.Resource, kind *model.Type) *model.Type {
	if kind.Kind != nil && kind.Kind.ListType != nil {
		return kind.Kind.ListType
	}
	for t, name := range b.kinds { // made before
		if name == r.ListKind && t.ListOf == kind {
			return t
		}
	}
	list := &model.Type{Name: r.ListKind, Package: kind.Package, Form: model.Struct, ListOf: kind, Doc: r.ListKind + " is a list of " + r.Kind + "."}
	list.Fields = []*model.Field{
		{Name: "TypeMeta", Type: b.meta.root("TypeMeta"), Embedded: true, Inline: true, Exported: true},
		{Name: "ListMeta", JSON: "metadata", Type: b.meta.root("ListMeta"), Embedded: true, OmitEmpty: true, Exported: true},
		{Name: "Items", JSON: "items", Type: &model.Type{Form: model.Slice, Elem: kind}, Exported: true},
	}
	return list
}

// components returns all schemas that were referred to, and those that they refer to.
func (b *builder) components() object {
	for len(b.queue) > 0 {
		t := b.queue[0]
		b.queue = b.queue[1:]
		b.done[Name(t)] = b.component(t)
	}
	out := object{}
	for name, s := range b.done {
		out[name] = s
	}
	return out
}

// ref refers to the schema of a named type, which is made later.
func (b *builder) ref(t *model.Type) object {
	name := Name(t)
	if _, ok := b.done[name]; !ok {
		b.done[name] = object{}
		b.queue = append(b.queue, t)
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// metaRef refers to a type of metav1.
func (b *builder) metaRef(name string) object { return b.ref(b.meta.root(name)) }

// component is the schema of a named type.
func (b *builder) component(t *model.Type) object {
	if s := wellKnown(t); s != nil {
		return s
	}
	var s object
	if t.Form == model.Struct && t.SchemaType == "" && !t.OpaqueJSON() {
		s = b.structure(t)
	} else {
		b.under[t] = true
		s = b.shape(t)
		delete(b.under, t)
	}
	if d := description(t.Doc); d != "" {
		s["description"] = d
	}
	b.layers(s, t)
	if b.kinds[t] != "" {
		describeMetadata(s)
	}
	if gvks := b.groupVersionKinds(t); gvks != nil {
		s["x-kubernetes-group-version-kind"] = gvks
	}
	return s
}

// describeMetadata says what metadata is, where the author of a kind or list did not.
func describeMetadata(kind object) {
	properties, _ := kind["properties"].(object)
	if metadata, ok := properties["metadata"].(object); ok && metadata["description"] == nil {
		properties["metadata"] = overlay(metadata, object{"description": "Standard metadata: name, namespace, labels, resourceVersion and so on."})
	}
}

// structure is the schema of a struct.
func (b *builder) structure(t *model.Type) object {
	s := object{"type": "object"}
	properties, required := object{}, []string{}
	b.fields(t, properties, &required, map[*model.Type]bool{})
	if len(properties) > 0 {
		s["properties"] = properties
	}
	if len(required) > 0 {
		s["required"] = required
	}
	b.inherit(s, t, map[*model.Type]bool{t: true})
	return s
}

// inherit adds the rules in CEL of what a struct inlines: they hold for the whole of it.
func (b *builder) inherit(s object, t *model.Type, inlined map[*model.Type]bool) {
	for _, f := range t.Fields {
		inner := b.known(f.Type.Pointee())
		if !f.Inline || f.Ignored || inner.Form != model.Struct || inlined[inner] {
			continue
		}
		inlined[inner] = true
		b.inherit(s, inner, inlined)
		validations(s, inner.Schema)
	}
}

// fields adds the properties of a struct and of what it inlines. A field nearer to the outer struct wins, as in Go.
func (b *builder) fields(t *model.Type, properties object, required *[]string, inlined map[*model.Type]bool) {
	inlined[t] = true
	for _, f := range t.Fields {
		if f.Ignored || f.Inline || f.JSON == "" || properties[f.JSON] != nil {
			continue
		}
		properties[f.JSON] = b.property(f)
		if !f.Schema.Optional && (f.Schema.Required || !f.OmitEmpty) {
			*required = append(*required, f.JSON)
		}
	}
	for _, f := range t.Fields {
		if !f.Inline || f.Ignored {
			continue
		}
		inner := b.known(f.Type.Pointee())
		if inner.Form == model.Struct && !inlined[inner] {
			b.fields(inner, properties, required, inlined)
		}
	}
}

// known replaces a type of apimachinery by what is known of it with its documentation.
func (b *builder) known(t *model.Type) *model.Type {
	if t.Package != nil && t.Name != "" {
		if k := b.meta.named(t.Package.Path, t.Name); k != nil {
			return k
		}
	}
	return t
}

// groupVersionKinds is the extension by which clients find the schema of a kind.
func (b *builder) groupVersionKinds(t *model.Type) []any {
	gvk := func(group, version, kind string) object {
		return object{"group": group, "version": version, "kind": kind}
	}
	if kind := b.kinds[t]; kind != "" {
		return []any{gvk(b.group.Name, b.version.Name, kind)}
	}
	if payload := b.payloads[t]; payload != nil {
		return []any{payload}
	}
	if t.Package == nil || t.Package.Path != metaPath {
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
