package load

import (
	"encoding/json"
	"go/ast"
	"strings"

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
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						add(spec.Name)
					case *ast.ValueSpec:
						for _, id := range spec.Names {
							add(id)
						}
					}
				}
			}
		}
	}
	return out
}

// registers tells whether a hand-written function init adds types to a scheme.
func (s *source) registers() bool {
	found := false
	for _, f := range s.files {
		if s.generated[f] {
			continue
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != "init" || fn.Body == nil {
				continue
			}
			ast.Inspect(fn.Body, func(n ast.Node) bool {
				if call, ok := n.(*ast.SelectorExpr); ok && strings.HasPrefix(call.Sel.Name, "AddKnownType") {
					found = true
				}
				return !found
			})
		}
	}
	return found
}

func quoteJSON(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		return `""`
	}
	return string(data)
}
