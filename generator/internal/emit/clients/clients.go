// Package clients emits the clientset that +apigen:clients asks for: one typed client for each kind marked +genclient,
// over client-go's generic one, the set of all of them, and their fakes for tests. It knows emit, layout and the plan
// of clients, which is the templates' data.
package clients

import (
	"text/template"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/plan/clientset"
)

// Emitter returns the emitter of clientsets.
func Emitter() emit.Emitter {
	return layout.Emitter("clients", "the clientset of the kinds marked +genclient, where +apigen:clients asks for one",
		write)
}

func write(out *layout.Writer, s *clientset.Set) {
	w := writer{out, layout.Template("typed.tmpl"), layout.Template("*set.tmpl"), layout.Template("scheme.tmpl")}
	w.clientset(s)
	for _, v := range s.Versions() {
		w.version(v)
		w.fakeVersion(v)
	}
}

type writer struct {
	*layout.Writer
	typed, set, scheme *template.Template
}

func (w writer) clientset(s *clientset.Set) {
	f := w.File(s, s.ClientsetPath, "versioned", "Package versioned has the clients of all groups and versions.")
	fake := w.File(s, s.FakePath, "fake", "Package fake has a clientset for tests, which needs no server.")
	scheme := w.File(s, s.SchemePath, "scheme", "Package scheme has the types of all groups and versions of the "+
		"clientset.")
	fake.Import("clientset", s.ClientsetPath)
	fake.Import("applyconfiguration", s.ApplyPath)
	for _, v := range s.Versions() {
		f.Import(v.Alias(), v.TypedPath)
		fake.Import(v.Alias(), v.TypedPath)
		fake.Import("fake"+v.Alias(), v.TypedFakePath)
		fake.Import(v.API(), v.Package.Path)
		scheme.Import(v.API(), v.Package.Path)
	}
	w.Execute(f, w.set, "clientset.tmpl", s)
	w.Execute(fake, w.set, "fakeset.tmpl", s)
	w.Execute(scheme, w.scheme, "scheme.tmpl", s)
}

func (w writer) version(v *clientset.Version) {
	f := w.File(v.Set, v.TypedPath, v.Name, "Package "+v.Name+" has the clients of "+v.GroupVersion()+".")
	f.Import("scheme", v.Set.SchemePath)
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ApplyAlias(), v.ApplyPath)
	w.Execute(f, w.typed, "group", v)
	timeout := false
	for _, k := range v.Kinds {
		f.ImportAll(k.Foreign())
		w.Execute(f, w.typed, "kind", k)
		for _, m := range k.Extra() {
			timeout = timeout || m.Verb == "list"
		}
	}
	if timeout {
		w.Execute(f, w.typed, "timeout", nil)
	}
}

func (w writer) fakeVersion(v *clientset.Version) {
	f := w.File(v.Set, v.TypedFakePath, "fake",
		"Package fake has the clients of "+v.GroupVersion()+" for tests, which need no server.")
	f.Import(v.Alias(), v.TypedPath)
	f.Import(v.API(), v.Package.Path)
	f.Import(v.ApplyAlias(), v.ApplyPath)
	w.Execute(f, w.typed, "fakegroup", v)
	for _, k := range v.Kinds {
		f.ImportAll(k.Foreign())
		w.Execute(f, w.typed, "fakekind", k)
	}
}
