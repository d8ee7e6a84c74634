package crd

import (
	"strings"

	"apigen.dev/generator/internal/model"
)

// object is a JSON object. Encoding sorts its keys.
type object = map[string]any

func (b *builder) definition(r resource) object {
	stored := func(v model.ResourceVersion) bool { return v.Version == r.storage }
	metadata := object{"name": r.Plural + "." + r.group.Name}
	names := object{"kind": r.Kind, "listKind": r.ListKind, "plural": r.Plural, "singular": r.Singular}
	list(names, "shortNames", r.ShortNames)
	list(names, "categories", r.Categories)
	spec := object{"group": r.group.Name, "names": names, "scope": "Namespaced"}
	if r.ClusterScoped {
		spec["scope"] = "Cluster"
	}
	var versions []any
	for _, v := range r.versions {
		pairs(metadata, "labels", v.Type.Kind.Manifest.Labels)
		pairs(metadata, "annotations", v.Type.Kind.Manifest.Annotations)
		versions = append(versions, b.version(v, stored(v)))
	}
	spec["versions"] = versions
	return object{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": metadata,
		"spec": spec}
}

// list adds a keyword with values, if there are any.
func list[T any](s object, key string, values []T) {
	if len(values) > 0 {
		s[key] = values
	}
}

func pairs(s object, key string, values []model.KeyValue) {
	for _, v := range values {
		if s[key] == nil {
			s[key] = object{}
		}
		s[key].(object)[v.Key] = v.Value
	}
}

func (b *builder) version(v model.ResourceVersion, storage bool) object {
	k := v.Type.Kind
	root := b.root(v.Type)
	out := object{"name": v.Version.Name, "served": !k.Unserved, "storage": storage,
		"schema": object{"openAPIV3Schema": root}}
	if k.IsDeprecated {
		out["deprecated"] = true
		text(out, "deprecationWarning", k.Deprecated)
	}
	subresources := object{}
	if k.Manifest.Status {
		subresources["status"] = object{}
	}
	if k.Scale != nil {
		subresources["scale"] = scale(k.Scale, root)
	}
	columns := columns(k)
	list(out, "additionalPrinterColumns", columns)
	if len(columns) > 0 || len(subresources) > 0 {
		out["subresources"] = subresources // empty if there are only columns, as controller-gen writes it
	}
	var selectable []any
	for _, f := range k.Selectable {
		if "."+f.Name == f.JSONPath {
			selectable = append(selectable, object{"jsonPath": f.JSONPath})
		}
	}
	list(out, "selectableFields", selectable)
	return out
}

// columns returns the printer columns with a JSON path. A definition can't express those that methods compute, nor
// place the name.
func columns(k *model.Kind) []any {
	var out []any
	for _, c := range k.Columns {
		if c.Method != "" || c.Format == model.NameFormat {
			continue
		}
		column := object{"name": c.Name, "type": c.Type, "jsonPath": c.JSONPath}
		text(column, "description", c.Description)
		text(column, "format", c.Format)
		if c.Priority != 0 {
			column["priority"] = c.Priority
		}
		out = append(out, column)
	}
	return out
}

// root returns the schema of a kind. The server defines its metadata.
func (b *builder) root(t *model.Type) object {
	s := clone(b.named(b.types.Type(t))).(object)
	if properties, ok := s["properties"].(object); ok && properties["metadata"] != nil {
		properties["metadata"] = object{"type": "object"}
	}
	return s
}

func text(s object, key, value string) {
	if value != "" {
		s[key] = value
	}
}

// description returns a doc comment as the description of a schema, line by line, without markers, lines that begin
// with TODO and the text after a line of dashes. In a block of code, it keeps all lines. A backslash keeps such a line.
func description(doc string) string {
	var out []string
	code := false
	for _, line := range strings.Split(doc, "\n") {
		if strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~") {
			code = !code
		}
		if !code {
			if strings.HasPrefix(line, "---") {
				break
			}
			if strings.HasPrefix(line, "TODO") || strings.HasPrefix(line, "+") {
				continue
			}
		}
		out = append(out, model.UnescapeDocLine(line))
	}
	return strings.Join(out, "\n")
}
