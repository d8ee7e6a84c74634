package load

import (
	"encoding/json"
	"go/ast"
	"iter"

	"apigen.dev/generator/model"
)

// declared are the package-level names that hand-written files declare.
func (s *source) declared(b *builder) map[string]model.Position {
	out := map[string]model.Position{}
	add := func(id *ast.Ident) {
		if id.Name != "_" && id.Name != "init" {
			out[id.Name] = b.position(id.Pos())
		}
	}
	for _, f := range s.files {
		for id := range declaredIn(f) {
			add(id)
		}
	}
	return out
}

// declaredIn are the package-level names of a file, methods aside.
func declaredIn(f *ast.File) iter.Seq[*ast.Ident] {
	return func(yield func(*ast.Ident) bool) {
		for _, d := range f.Decls {
			for _, id := range namesOf(d) {
				if !yield(id) {
					return
				}
			}
		}
	}
}

func namesOf(d ast.Decl) []*ast.Ident {
	var out []*ast.Ident
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			out = append(out, d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				out = append(out, spec.Name)
			case *ast.ValueSpec:
				out = append(out, spec.Names...)
			}
		}
	}
	return out
}

func quoteJSON(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(data)
}
