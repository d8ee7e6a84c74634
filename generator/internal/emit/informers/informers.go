// Package informers emits the informers that +apigen:clients asks for: a factory of shared informers, and below it a
// package for each group and each version. It knows emit, layout and the plan of clients, which is the templates' data.
package informers

import (
	"text/template"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/plan/clientset"
)

// Emitter returns the emitter of informers.
func Emitter() emit.Emitter {
	return layout.Emitter("informers",
		"the informers of the kinds marked +genclient, where +apigen:clients asks for them", write)
}

func write(out *layout.Writer, s *clientset.Set) {
	if len(s.InformedGroups()) == 0 {
		return
	}
	w := writer{out, layout.Template("informer.tmpl")}
	w.factory(s)
	for _, g := range s.InformedGroups() {
		w.group(s, g)
		for _, v := range g.InformedVersions() {
			w.version(s, v)
		}
	}
}

type writer struct {
	*layout.Writer
	templates *template.Template
}

func (w writer) file(s *clientset.Set, pkg, name, doc string) *layout.File {
	f := w.File(s, pkg, name, doc)
	f.Import("versioned", s.ClientsetPath)
	f.Import("internalinterfaces", s.InterfacesPath)
	return f
}

func (w writer) factory(s *clientset.Set) {
	f := w.file(s, s.InformersPath, "externalversions", "Package externalversions has the factory of shared "+
		"informers of all groups and versions.")
	for _, g := range s.InformedGroups() {
		f.Import(g.Alias(), s.GroupInformers(g))
	}
	w.Execute(f, w.templates, "factory", s)
	w.Execute(f, w.templates, "generic", s)
	f = w.file(s, s.InterfacesPath, "internalinterfaces", "Package internalinterfaces has what the factory of "+
		"informers and the informers know of each other.")
	w.Execute(f, w.templates, "interfaces", s)
}

func (w writer) group(s *clientset.Set, g *clientset.Group) {
	f := w.file(s, s.GroupInformers(g), g.PackageName,
		"Package "+g.PackageName+" has the informers of "+g.GroupName()+".")
	for _, v := range g.InformedVersions() {
		f.Import(v.Name, v.InformerPath)
	}
	w.Execute(f, w.templates, "group", g)
}

func (w writer) version(s *clientset.Set, v *clientset.Version) {
	f := w.file(s, v.InformerPath, v.Name, "Package "+v.Name+" has the informers of "+v.GroupVersion()+".")
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ListerAlias(), v.ListerPath)
	w.Execute(f, w.templates, "version", v)
	for _, k := range v.Informed() {
		w.Execute(f, w.templates, "kind", k)
	}
}
