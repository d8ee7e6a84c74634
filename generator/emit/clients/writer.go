package clients

import (
	"errors"
	"text/template"

	"apigen.dev/generator/emit/layout"
)

// writer collects the files, and the errors of templates, which are bugs.
type writer struct {
	typed, set, scheme *template.Template
	files              []*layout.File
	err                error
}

// file begins a file and keeps it.
func (w *writer) file(s *layout.Set, pkg, name, doc string) *layout.File {
	f := s.NewFile(Name, pkg, name, doc)
	w.files = append(w.files, f)
	return f
}

func (w *writer) execute(f *layout.File, t *template.Template, name string, data any) {
	w.err = errors.Join(w.err, t.ExecuteTemplate(f, name, data))
}

// clientset writes the packages of the whole set.
func (w *writer) clientset(s *layout.Set) {
	f := w.file(s, s.ClientsetPath(), "versioned", "Package versioned has the clients of all groups and versions.")
	fake := w.file(s, s.FakePath(), "fake", "Package fake has a clientset for tests, which needs no server.")
	scheme := w.file(s, s.SchemePath(), "scheme", "Package scheme has the types of all groups and versions of the "+
		"clientset.")
	fake.Import("clientset", s.ClientsetPath())
	fake.Import("applyconfiguration", s.ApplyPath())
	for _, v := range s.Versions() {
		f.Import(v.Alias(), v.TypedPath())
		fake.Import(v.Alias(), v.TypedPath())
		fake.Import("fake"+v.Alias(), v.TypedFakePath())
		fake.Import(v.API(), v.Package.Path)
		scheme.Import(v.API(), v.Package.Path)
	}
	w.execute(f, w.set, "clientset.tmpl", s)
	w.execute(fake, w.set, "fakeset.tmpl", s)
	w.execute(scheme, w.scheme, "scheme.tmpl", s)
}

// version writes the typed clients of a version.
func (w *writer) version(v *layout.Version) {
	f := w.file(v.Set, v.TypedPath(), v.Name, "Package "+v.Name+" has the clients of "+v.GroupVersion()+".")
	f.Import("scheme", v.Set.SchemePath())
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ApplyAlias(), v.ApplyPath())
	w.execute(f, w.typed, "group", v)
	timeout := false
	for _, k := range v.Kinds {
		f.ImportAll(k.Foreign())
		w.execute(f, w.typed, "kind", k)
		for _, m := range k.Extra() {
			timeout = timeout || m.Verb == "list"
		}
	}
	if timeout {
		w.execute(f, w.typed, "timeout", nil)
	}
}

// fakeVersion writes the fakes of a version's clients.
func (w *writer) fakeVersion(v *layout.Version) {
	f := w.file(v.Set, v.TypedFakePath(), "fake",
		"Package fake has the clients of "+v.GroupVersion()+" for tests, which need no server.")
	f.Import(v.Alias(), v.TypedPath())
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ApplyAlias(), v.ApplyPath())
	w.execute(f, w.typed, "fakegroup", v)
	for _, k := range v.Kinds {
		f.ImportAll(k.Foreign())
		w.execute(f, w.typed, "fakekind", k)
	}
}
