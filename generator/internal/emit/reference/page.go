package reference

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/schema"
)

// page holds the data of one version of a group that the templates show.
type page struct {
	// Notice says that the page was generated.
	Notice string
	// Title is the apiVersion of the objects: shop.example.com/v1.
	Title string
	Text  text
	Kinds []*kind
	Types []*section
}

// kind is an object that clients read and write.
type kind struct {
	*section
	APIVersion, Plural, Scope, Path string
	ShortNames, Categories          []string
	Storage                         bool
	Deprecated                      string
	Columns                         []column
	Selectable                      []string
	Subresources                    []subresource
	// WithoutStorage: nothing of the kind is stored. Verbs are those of such a kind, or of one that isn't served with
	// all.
	WithoutStorage bool
	Verbs          []string
}

// column is one of kubectl get's. From is empty if a method makes it.
type column struct{ Name, Type, From string }

// section is a type with its fields, or with its values.
type section struct {
	Name, Anchor string
	Text         text
	Fields       []field
	Values       []enumValue
	// Shape describes a type that is not a struct.
	Shape shape
	Rules []string
}

type enumValue struct {
	Value string
	Text  text
}

type field struct {
	Name     string
	Shape    shape
	Required bool
	Default  string
	Rules    []string
	Text     text
}

// shape is a type in words: before and after a name that may be linked.
type shape struct {
	Before, Name, Link, After string
}

func (s shape) String() string { return s.Before + s.Name + s.After }

// maker makes a page. Types are described once each, in the order in which they are met.
type maker struct {
	types   *schema.Resolver
	group   *model.Group
	version *model.Version
	kinds   map[*model.Type]bool
	anchors map[*model.Type]string
	taken   map[string]bool
	queue   []*model.Type
}

// packageTexts are the comments of the packages of a version, one below the other.
func packageTexts(v *model.Version) text {
	out := parse(v.Packages[0].Doc)
	for _, p := range v.Packages[1:] {
		if p.Doc != v.Packages[0].Doc {
			out.doc.Content = append(out.doc.Content, parse(p.Doc).doc.Content...)
		}
	}
	return out
}

func newPage(g *model.Group, v *model.Version) *page {
	m := &maker{
		types: schema.New(schema.Reference), group: g, version: v,
		kinds: map[*model.Type]bool{}, anchors: map[*model.Type]string{}, taken: map[string]bool{},
	}
	out := &page{Notice: emit.Notice, Title: strings.TrimPrefix(g.Name+"/"+v.Name, "/"), Text: packageTexts(v)}
	served := map[*model.Type]*model.Resource{}
	for _, r := range g.Resources {
		for _, rv := range r.Served() {
			if rv.Version == v {
				served[rv.Type], m.kinds[rv.Type] = r, true
			}
		}
	}
	kinds := slices.SortedFunc(maps.Keys(served), func(a, b *model.Type) int {
		return cmp.Compare(served[a].Kind, served[b].Kind)
	})
	for _, t := range kinds {
		m.anchor(t)
	}
	for _, t := range kinds {
		out.Kinds = append(out.Kinds, m.kind(served[t], t, out.Title))
	}
	for len(m.queue) > 0 {
		t := m.queue[0]
		m.queue = m.queue[1:]
		out.Types = append(out.Types, m.section(t))
	}
	slices.SortStableFunc(out.Types, func(a, b *section) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// anchor returns the anchor of a type's description. It is made of the name alone, so that links from elsewhere last. A
// second type of the same name, of another package, gets a number.
func (m *maker) anchor(t *model.Type) string {
	if a := m.anchors[t]; a != "" {
		return a
	}
	base := strings.ToLower(t.Name)
	a := base
	for i := 2; m.taken[a]; i++ {
		a = fmt.Sprintf("%s-%d", base, i)
	}
	m.anchors[t], m.taken[a] = a, true
	if !m.kinds[t] {
		m.queue = append(m.queue, t)
	}
	return a
}

func (m *maker) kind(r *model.Resource, t *model.Type, apiVersion string) *kind {
	k := &kind{
		section: m.section(t), APIVersion: apiVersion, Plural: r.Plural, Scope: "Namespaced",
		ShortNames: r.ShortNames, Categories: r.Categories,
		Storage: r.Storage == m.version && !r.WithoutStorage, WithoutStorage: r.WithoutStorage, Verbs: r.Verbs,
		Subresources: m.subresources(r, t),
	}
	root := "/apis/" + apiVersion
	if m.group.Name == "" {
		root = "/api/" + m.version.Name
	}
	k.Path = root + "/namespaces/{namespace}/" + r.Plural
	if r.ClusterScoped {
		k.Scope, k.Path = "Cluster", root+"/"+r.Plural
	}
	if t.Kind == nil {
		return k
	}
	if t.Kind.IsDeprecated || t.Kind.Deprecated != "" {
		k.Deprecated = cmp.Or(t.Kind.Deprecated, apiVersion+" "+r.Kind+" is deprecated")
	}
	for _, c := range t.Kind.Columns {
		from := strings.TrimPrefix(c.JSONPath, ".")
		if c.Method != "" {
			from = ""
		}
		k.Columns = append(k.Columns, column{Name: c.Name, Type: c.Type, From: from})
	}
	if !r.Has("list") {
		return k
	}
	k.Selectable = []string{"metadata.name"}
	if !r.ClusterScoped {
		k.Selectable = append(k.Selectable, "metadata.namespace")
	}
	for _, f := range t.Kind.Selectable {
		k.Selectable = append(k.Selectable, f.Name)
	}
	return k
}

// subresource is one of a kind's subresources: its methods, the types of requests and responses, and its documentation.
type subresource struct {
	Name, Methods string
	// Takes and Answers are the types of requests and responses. Where Query is set, Takes is the type of the query.
	Takes, Answers shape
	Query          bool
	Text           text
}

// whole are the methods of a subresource that clients read and write in the form of the object.
const whole = "GET, PUT, PATCH"

func (m *maker) subresources(r *model.Resource, kind *model.Type) []subresource {
	var out []subresource
	if r.Status {
		var metadata []string
		if r.StatusMarker != nil {
			metadata = r.StatusMarker.Metadata
		}
		out = append(out, m.part("status", kind, []string{"status"}, metadata))
	}
	for _, s := range r.Subresources {
		out = append(out, m.subresource(s, kind))
	}
	return out
}

// part describes a subresource through which clients write fields of the object, and members of its metadata.
func (m *maker) part(name string, kind *model.Type, fields, metadata []string) subresource {
	for _, member := range metadata {
		fields = append(fields, "metadata."+member)
	}
	verb := " is written"
	if len(fields) > 1 {
		verb = " are written"
	}
	object := shape{Name: kind.Name, Link: "#" + m.anchor(kind),
		After: ", of which " + strings.Join(fields, ", ") + verb}
	return subresource{Name: name, Methods: whole, Takes: object}
}

// fields describes a subresource of parts in the version.
func (m *maker) fields(s *model.Subresource, kind *model.Type) subresource {
	var fields []string
	for _, part := range s.Parts[m.version] {
		fields = append(fields, strings.TrimPrefix(part.Path, "."))
	}
	out := m.part(s.Name, kind, fields, s.Metadata)
	out.Methods = strings.Join(s.Methods, ", ")
	return out
}

func (m *maker) subresource(s *model.Subresource, kind *model.Type) subresource {
	out := subresource{Name: s.Name, Methods: "GET"}
	if s.Method != nil {
		out.Text = parse(s.Method.Doc)
	}
	if s.Options != nil {
		out.Takes, out.Query = m.shape(m.types.Type(s.Options)), true
	}
	switch s.Form {
	case model.FieldSubresource:
		return m.part(s.Name, kind, []string{s.Name}, s.Metadata)
	case model.PartSubresource:
		return m.fields(s, kind)
	case model.ScaleSubresource:
		out.Methods, out.Takes = whole, shape{Name: "Scale", After: " (autoscaling/v1)"}
	case model.ActionSubresource, model.RemovalSubresource:
		out.Methods, out.Takes = "POST", m.payload(s.Body)
	case model.RequestSubresource:
		out.Methods, out.Takes, out.Answers = "POST", m.payload(s.Body), m.payload(s.Answer)
	case model.ViewSubresource:
		out.Answers = m.payload(s.Answer)
	case model.StreamSubresource:
		out.Answers = shape{Name: cmp.Or(s.ContentType, "text/plain")}
	case model.ConnectSubresource:
		out.Methods = strings.Join(s.Methods, ", ")
		out.Answers = shape{Name: "a connection"}
	}
	return out
}

func (m *maker) payload(p *model.Payload) shape {
	return m.shape(m.types.Type(p.At(m.version.Name).Type))
}
