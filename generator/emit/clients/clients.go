// Package clients emits the clientset that +apigen:clients asks for: one typed client for each kind marked +genclient,
// over client-go's generic one, the set of all of them, and their fakes for tests. It knows emit, layout and the plan
// of clients, which is the templates' data.
package clients

import (
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan/clientset"
)

// Emitter returns the emitter of clientsets.
func Emitter() emit.Emitter {
	return layout.Emitter("clients", "the clientset of the kinds marked +genclient, where +apigen:clients asks for one",
		write)
}

// write adds the files of a set.
func write(out *layout.Writer, s *clientset.Set) {
	w := writer{out, layout.Template("typed.tmpl"), layout.Template("*set.tmpl"), layout.Template("scheme.tmpl")}
	w.clientset(s)
	for _, v := range s.Versions() {
		w.version(v)
		w.fakeVersion(v)
	}
}
