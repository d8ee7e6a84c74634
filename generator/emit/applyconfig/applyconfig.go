// Package applyconfig emits the apply configurations that +apigen:clients asks for: for each kind that clients apply,
// and for each struct in it, one whose fields are all optional, with functions that set them; the extraction of what a
// manager has applied; and the schema that it needs, which it translates from the plan's. It knows the plan, the model,
// emit and layout.
package applyconfig

import (
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/layout"
	"apigen.dev/generator/plan"
)

// Name is the emitter's.
const Name = "applyconfig"

// Emitter returns the emitter of apply configurations.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name: Name,
		Doc:  "the apply configurations of the kinds marked +genclient, where +apigen:clients asks for them",
		Owns: func(base string) bool { return base == layout.FileName(Name) },
		Emit: Emit,
	}
}

// Emit returns the files of all apply configurations that are asked for.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	sets := layout.Sets(p, &errs)
	if err := errs.Err(); err != nil {
		return nil, nil //nolint:nilerr // the emitter of clients reports them
	}
	var files []*layout.File
	for _, s := range sets {
		if !s.Apply() {
			continue
		}
		more, err := set(s)
		if err != nil {
			return nil, err
		}
		files = append(files, more...)
	}
	return layout.Files(files)
}

// set returns the files of one set.
func set(s *layout.Set) ([]*layout.File, error) {
	g := newGraph(s)
	parser, err := parserFile(s)
	if err != nil {
		return nil, err
	}
	files := []*layout.File{parser, kindsFile(s, g)}
	for _, v := range s.Versions() {
		if len(g.types[v]) == 0 {
			continue
		}
		w := &writer{File: s.NewFile(Name, v.ApplyPath(), v.Name,
			"Package "+v.Name+" has the apply configurations of "+v.GroupVersion()+"."), graph: g, version: v}
		w.Import("internal", s.ParserPath())
		for _, t := range g.types[v] {
			w.configuration(t)
		}
		files = append(files, w.File)
	}
	return files, nil
}

// kindsFile has what is said of all apply configurations together.
func kindsFile(s *layout.Set, g *graph) *layout.File {
	f := s.NewFile(Name, s.ApplyPath(), "applyconfiguration", "Package applyconfiguration finds the apply "+
		"configuration of a kind.")
	f.Import("internal", s.ParserPath())
	f.Add("// ForKind returns a new apply configuration of the kind, or of the struct of that name in its version; " +
		"nil where there is\n// none.\n")
	f.Add("func ForKind(kind schema.GroupVersionKind) any {\n\tswitch kind {\n")
	for _, v := range s.Versions() {
		f.Import(v.ApplyAlias(), v.ApplyPath())
		for _, t := range g.types[v] {
			printf(f, "\tcase schema.GroupVersionKind{Group: %q, Version: %q, Kind: %q}:\n\t\treturn &%s.%s{}\n",
				v.Group.Name, v.Name, t.Name, v.ApplyAlias(), layout.ApplyName(t.Name))
		}
	}
	f.Add("\t}\n\treturn nil\n}\n\n")
	f.Add("// NewTypeConverter returns what server-side apply needs to know of the types in a scheme.\n")
	f.Add("func NewTypeConverter(scheme *runtime.Scheme) managedfields.TypeConverter {\n\treturn " +
		"managedfields.NewSchemeTypeConverter(scheme, internal.Parser())\n}\n")
	return f
}
