package load

import (
	"go/ast"
	"strings"
)

// ConversionNames returns, for each hand-written function that is called like a conversion, the names in its body and
// in those of the package's functions and methods that it calls. It leaves out functions that hand a parameter to code
// of other packages, which may read every field.
func (s *Source) ConversionNames() map[string]map[string]bool {
	out := map[string]map[string]bool{}
	if s == nil {
		return out
	}
	bodies := map[string][]*ast.FuncDecl{}
	for _, f := range s.files {
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
				bodies[fn.Name.Name] = append(bodies[fn.Name.Name], fn)
			}
		}
	}
	for name, functions := range bodies {
		if strings.HasPrefix(name, "Convert_") && functions[0].Recv == nil {
			if names := (map[string]bool{}); gather(bodies, functions, names) {
				out[name] = names
			}
		}
	}
	return out
}

// gather adds the names in the bodies of functions, and reports whether none hands a parameter to another package.
func gather(bodies map[string][]*ast.FuncDecl, functions []*ast.FuncDecl, names map[string]bool) bool {
	closed := true
	for _, fn := range functions {
		parameters := parametersOf(fn)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				if !names[n.Name] {
					names[n.Name] = true
					closed = gather(bodies, bodies[n.Name], names) && closed
				}
			case *ast.CallExpr:
				if callee, ok := n.Fun.(*ast.SelectorExpr); ok && bodies[callee.Sel.Name] == nil {
					for _, arg := range n.Args {
						closed = closed && !parameters[bareName(arg)]
					}
				}
			}
			return true
		})
	}
	return closed
}

func parametersOf(fn *ast.FuncDecl) map[string]bool {
	out := map[string]bool{}
	for _, list := range []*ast.FieldList{fn.Recv, fn.Type.Params} {
		if list == nil {
			continue
		}
		for _, f := range list.List {
			for _, id := range f.Names {
				out[id.Name] = true
			}
		}
	}
	return out
}

// bareName returns the name of a variable that stands alone, or of one whose address or value is taken.
func bareName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return bareName(e.X)
	case *ast.UnaryExpr:
		return bareName(e.X)
	}
	return ""
}
