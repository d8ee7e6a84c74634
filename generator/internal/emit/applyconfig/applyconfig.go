// Package applyconfig emits the apply configurations that +apigen:clients asks for: for each kind that clients apply,
// and for each struct in it, one whose fields are all optional, with functions that set them; the extraction of what a
// manager has applied; and the schema that it needs, which it translates from the plan's. It knows the model, the plan,
// emit, layout and spelling.
package applyconfig

import (
	"slices"
	"strings"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/clientset"
	"apigen.dev/generator/internal/spelling"
)

// Emitter returns the emitter of apply configurations.
func Emitter() emit.Emitter {
	return layout.Emitter("applyconfig",
		"the apply configurations of the kinds marked +genclient, where +apigen:clients asks for them", write)
}

func write(out *layout.Writer, s *clientset.Set) {
	if !s.Apply() {
		return
	}
	g := newGraph(s)
	tmpl := layout.Template("applyconfig.tmpl", map[string]any{"comment": comment, "title": title})
	writeParser(out, s)
	all := out.File(s, s.ApplyPath, "applyconfiguration", "Package applyconfiguration finds the apply "+
		"configuration of a kind.")
	all.Import("internal", s.ParserPath)
	var configurations []configuration
	for _, v := range s.Versions() {
		all.Import(v.ApplyAlias(), v.ApplyPath)
		if len(g.types[v]) == 0 {
			continue
		}
		f := out.File(s, v.ApplyPath, v.Name,
			"Package "+v.Name+" has the apply configurations of "+v.GroupVersion()+".")
		f.Import("internal", s.ParserPath)
		for _, t := range g.types[v] {
			c := configuration{File: f, graph: g, Version: v, Type: t}
			if i := slices.IndexFunc(v.Kinds, func(k *clientset.Kind) bool { return k.Type == t }); i >= 0 {
				c.Kind = v.Kinds[i]
			}
			configurations = append(configurations, c)
			out.Execute(f, tmpl, "configuration", c)
		}
	}
	out.Execute(all, tmpl, "kinds", configurations)
}

// configuration is an apply configuration in its file, as the templates show it.
type configuration struct {
	*layout.File
	graph   *graph
	Version *clientset.Version
	Type    *model.Type
	// Kind is nil if the type is not a kind with a client.
	Kind *clientset.Kind
}

// Name is that of the apply configuration's type.
func (c configuration) Name() string { return clientset.ApplyName(c.Type.Name) }

// GroupVersion is the apiVersion of the configuration's objects.
func (c configuration) GroupVersion() string { return c.Version.GroupVersion() }

// API is the kind's type as the file names it.
func (c configuration) API() string { return c.Qualify(c.Type.Package, c.Type.Name) }

// HasTypeMeta reports whether the type embeds metav1.TypeMeta.
func (c configuration) HasTypeMeta() bool {
	return slices.ContainsFunc(c.Type.Fields, func(f *model.Field) bool {
		return f.Embedded && model.IsNamed(f.Type, metaPath, "TypeMeta")
	})
}

// InNamespace reports whether the configuration of an object is made with its namespace.
func (c configuration) InNamespace() bool { return c.Kind.Namespaced && !c.Kind.NonNamespaced }

// Subresources are those of a kind that can be applied, sorted.
func (c configuration) Subresources() []string {
	var out []string
	status := func(f *model.Field) bool { return f.Name == "Status" }
	if !c.Kind.NoStatus && slices.ContainsFunc(c.Type.Fields, status) {
		out = append(out, "status")
	}
	for _, m := range c.Kind.Methods {
		if m.Subresource != "" {
			out = append(out, m.Subresource)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func comment(doc string) string {
	var out strings.Builder
	for line := range strings.Lines(doc) {
		out.WriteString(strings.TrimRight("// "+strings.TrimRight(line, "\r\n"), " \t") + "\n")
	}
	return out.String()
}

func title(sub string) string {
	var out strings.Builder
	for _, word := range strings.FieldsFunc(sub,
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') }) {
		out.WriteString(spelling.UpperFirst(word))
	}
	return out.String()
}
