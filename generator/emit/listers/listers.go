// Package listers emits the listers that +apigen:clients asks for: typed views of what informers hold, over client-go's
// generic one. It knows the model, emit and layout, which holds the template's data.
package listers

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan"
)

// Name is the emitter's.
const Name = "listers"

// Emitter returns the emitter of listers.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: Name,
		Doc:  "the listers of the kinds marked +genclient, where +apigen:clients asks for them",
		Owns: func(base string) bool { return base == layout.FileName(Name) },
		Emit: Emit,
	}
}

// Emit returns a file for each version that has a kind which can be listed and got.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	sets := layout.Sets(p, &errs)
	if err := errs.Err(); err != nil {
		return nil, nil //nolint:nilerr // the emitter of clients reports them
	}
	lister := layout.Template("lister.tmpl")
	var files []*layout.File
	for _, s := range sets {
		for _, v := range s.Versions() {
			if len(v.Listed()) == 0 {
				continue
			}
			f := s.NewFile(Name, v.ListerPath(), v.Name, "Package "+v.Name+" has the listers of "+v.GroupVersion()+".")
			f.Import(v.API(), v.Package.Path)
			for _, k := range v.Listed() {
				if err := lister.Execute(f, k); err != nil {
					return nil, err
				}
			}
			files = append(files, f)
		}
	}
	return layout.Files(files)
}
