// Package applyconfig emits the apply configurations that +apigen:clients asks for: for each kind that clients apply,
// and for each struct in it, one whose fields are all optional, with functions that set them; the extraction of what a
// manager has applied; and the schema that it needs, which it translates from the plan's. It knows the model, the plan,
// emit and layout.
package applyconfig

import (
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan/clientset"
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
	writeParser(out, s)
	writeKinds(out, s, g)
	for _, v := range s.Versions() {
		if len(g.types[v]) == 0 {
			continue
		}
		f := out.File(s, v.ApplyPath, v.Name,
			"Package "+v.Name+" has the apply configurations of "+v.GroupVersion()+".")
		w := &writer{File: f, graph: g, version: v, schemeNames: out.Plan.Applied.SchemeNames}
		w.Import("internal", s.ParserPath)
		for _, t := range g.types[v] {
			w.configuration(t)
		}
	}
}

func writeKinds(w *layout.Writer, s *clientset.Set, g *graph) {
	f := w.File(s, s.ApplyPath, "applyconfiguration", "Package applyconfiguration finds the apply "+
		"configuration of a kind.")
	f.Import("internal", s.ParserPath)
	f.Add("// ForKind returns a new apply configuration of the kind, or of the struct of that name in its version; " +
		"nil where there is\n// none.\n")
	f.Add("func ForKind(kind schema.GroupVersionKind) any {\n\tswitch kind {\n")
	for _, v := range s.Versions() {
		f.Import(v.ApplyAlias(), v.ApplyPath)
		for _, t := range g.types[v] {
			printf(f, "\tcase schema.GroupVersionKind{Group: %q, Version: %q, Kind: %q}:\n\t\treturn &%s.%s{}\n",
				v.Group.Name, v.Name, t.Name, v.ApplyAlias(), clientset.ApplyName(t.Name))
		}
	}
	f.Add("\t}\n\treturn nil\n}\n\n")
	f.Add("// NewTypeConverter returns what server-side apply needs to know of the types in a scheme.\n")
	f.Add("func NewTypeConverter(scheme *runtime.Scheme) managedfields.TypeConverter {\n\treturn " +
		"managedfields.NewSchemeTypeConverter(scheme, internal.Parser())\n}\n")
}
