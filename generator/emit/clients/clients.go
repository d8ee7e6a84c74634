// Package clients emits the clientset that +apigen:clients asks for: one typed client for each kind marked +genclient,
// over client-go's generic one, the set of all of them, and their fakes for tests. It knows the model, emit and layout,
// which holds the templates' data.
package clients

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan"
)

// Name is the emitter's.
const Name = "clients"

// Emitter returns the emitter of clientsets.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: Name,
		Doc:  "the clientset of the kinds marked +genclient, where +apigen:clients asks for one",
		Owns: func(base string) bool { return base == layout.FileName(Name) },
		Emit: Emit,
	}
}

// Emit returns the files of all clientsets that are asked for.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	sets := layout.Sets(p, &errs)
	for _, s := range sets {
		for _, v := range s.Versions() {
			p.SchemeFunction(v.Package, &errs)
		}
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	w := writer{typed: layout.Template("typed.tmpl"), set: layout.Template("*set.tmpl"),
		scheme: layout.Template("scheme.tmpl")}
	for _, s := range sets {
		w.clientset(s)
		for _, v := range s.Versions() {
			w.version(v)
			w.fakeVersion(v)
		}
	}
	if w.err != nil {
		return nil, w.err
	}
	return layout.Files(w.files)
}
