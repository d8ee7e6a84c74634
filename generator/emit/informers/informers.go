// Package informers emits the informers that +apigen:clients asks for: a factory of shared informers, and below it a
// package for each group and each version. It knows the model, emit and layout, which holds the templates' data.
package informers

import (
	"errors"
	"text/template"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan"
)

// Name is the emitter's.
const Name = "informers"

// Emitter returns the emitter of informers.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: Name,
		Doc:  "the informers of the kinds marked +genclient, where +apigen:clients asks for them",
		Owns: func(base string) bool { return base == layout.FileName(Name) },
		Emit: Emit,
	}
}

// Emit returns the files of all informers that are asked for.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	sets := layout.Sets(p, &errs)
	if err := errs.Err(); err != nil {
		return nil, nil //nolint:nilerr // the emitter of clients reports them
	}
	w := writer{templates: layout.Template("informer.tmpl")}
	for _, s := range sets {
		if len(s.InformedGroups()) == 0 {
			continue
		}
		w.factory(s)
		for _, g := range s.InformedGroups() {
			w.group(s, g)
			for _, v := range g.InformedVersions() {
				w.version(s, v)
			}
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return layout.Files(w.files)
}

// writer collects the files, and the errors of templates, which are bugs.
type writer struct {
	templates *template.Template
	files     []*layout.File
	err       error
}

// file begins a file and keeps it.
func (w *writer) file(s *layout.Set, pkg, name, doc string) *layout.File {
	f := s.NewFile(Name, pkg, name, doc)
	f.Import("versioned", s.ClientsetPath())
	f.Import("internalinterfaces", s.InterfacesPath())
	w.files = append(w.files, f)
	return f
}

func (w *writer) execute(f *layout.File, name string, data any) {
	w.err = errors.Join(w.err, w.templates.ExecuteTemplate(f, name, data))
}

// factory writes the packages of the whole set.
func (w *writer) factory(s *layout.Set) {
	f := w.file(s, s.InformersPath(), "externalversions", "Package externalversions has the factory of shared "+
		"informers of all groups and versions.")
	for _, g := range s.InformedGroups() {
		f.Import(g.Alias(), s.GroupInformers(g))
	}
	w.execute(f, "factory", s)
	w.execute(f, "generic", s)
	f = w.file(s, s.InterfacesPath(), "internalinterfaces", "Package internalinterfaces has what the factory of "+
		"informers and the informers know of each other.")
	w.execute(f, "interfaces", s)
}

// group writes the package of a group.
func (w *writer) group(s *layout.Set, g *layout.Group) {
	f := w.file(s, s.GroupInformers(g), g.PackageName,
		"Package "+g.PackageName+" has the informers of "+g.GroupName()+".")
	for _, v := range g.InformedVersions() {
		f.Import(v.Name, v.InformerPath())
	}
	w.execute(f, "group", g)
}

// version writes the package of a version.
func (w *writer) version(s *layout.Set, v *layout.Version) {
	f := w.file(s, v.InformerPath(), v.Name, "Package "+v.Name+" has the informers of "+v.GroupVersion()+".")
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ListerAlias(), v.ListerPath())
	w.execute(f, "version", v)
	for _, k := range v.Informed() {
		w.execute(f, "kind", k)
	}
}
