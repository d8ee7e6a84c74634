// Package listers emits the listers that +apigen:clients asks for: typed views of what informers hold, over client-go's
// generic one. It knows emit, layout and the plan of clients, which is the template's data.
package listers

import (
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/plan/clientset"
)

// Emitter returns the emitter of listers.
func Emitter() emit.Emitter {
	return layout.Emitter("listers", "the listers of the kinds marked +genclient, where +apigen:clients asks for them",
		write)
}

func write(w *layout.Writer, s *clientset.Set) {
	lister := layout.Template("lister.tmpl")
	for _, v := range s.Versions() {
		if len(v.Listed()) == 0 {
			continue
		}
		f := w.File(s, v.ListerPath, v.Name, "Package "+v.Name+" has the listers of "+v.GroupVersion()+".")
		f.Import(v.API(), v.Package.Path)
		for _, k := range v.Listed() {
			w.Execute(f, lister, "lister.tmpl", k)
		}
	}
}
