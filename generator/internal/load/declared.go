package load

import (
	"go/ast"
	"go/token"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
)

// Declared returns the package-level names that hand-written files declare.
func (u *Universe) Declared(s *Source) map[string]token.Position {
	out := map[string]token.Position{}
	for _, f := range s.files {
		for id := range declaredIn(f) {
			if id.Name != "_" && id.Name != "init" {
				out[id.Name] = u.fset.Position(id.Pos())
			}
		}
	}
	return out
}

// DeclaredBelow returns the names that hand-written files in a folder and below declare, by folder, relative to the
// first. It skips files that can't be read: the check of the packages reports those.
func (u *Universe) DeclaredBelow(dir string) map[string]map[string]bool {
	out := map[string]map[string]bool{}
	_ = filepath.WalkDir(dir, func(folder string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return nil //nolint:nilerr // a folder that isn't there holds nothing
		}
		for _, name := range goFiles(folder) {
			data, err := os.ReadFile(name) //nolint:gosec // the folder is the user's own
			if err != nil || u.replaceable(name, data) {
				continue
			}
			rel, err := filepath.Rel(dir, folder)
			f, _ := u.parseFile(name, data, 0)
			if f == nil || err != nil {
				continue
			}
			if rel = filepath.ToSlash(rel); out[rel] == nil {
				out[rel] = map[string]bool{}
			}
			for id := range declaredIn(f) {
				out[rel][id.Name] = true
			}
		}
		return nil
	})
	return out
}

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

// Mentions returns the names that hand-written functions and variables hold, and that may be those of functions that
// set defaults or convert. It is empty for a package that isn't read from source.
func (s *Source) Mentions() map[string]bool {
	out := map[string]bool{}
	if s == nil {
		return out
	}
	for _, f := range s.files {
		for _, d := range f.Decls {
			var body ast.Node = d
			if fn, ok := d.(*ast.FuncDecl); ok {
				if fn.Body == nil {
					continue
				}
				body = fn.Body
			}
			ast.Inspect(body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && conventional(id.Name) {
					out[id.Name] = true
				}
				return true
			})
		}
	}
	return out
}

// conventional reports whether a name begins like those that conventions give to functions.
func conventional(name string) bool {
	name = strings.ToLower(name)
	return strings.HasPrefix(name, "setdefault") || strings.HasPrefix(strings.TrimPrefix(name, "auto"), "conver")
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

// Registered returns the names of types whose objects hand-written code adds to a scheme: &X{} as an argument of
// AddKnownTypes or Register. It is empty if there is no such code, and where types are added in another form, so
// that they aren't known.
func (s *Source) Registered() map[string]bool {
	out := map[string]bool{}
	if s == nil {
		return out
	}
	known := true
	for _, f := range s.files {
		if s.generated[f] {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && registers(call.Fun) {
				known = known && call.Ellipsis == token.NoPos
				for _, arg := range call.Args {
					if name := literalOf(arg); name != "" {
						out[name] = true
					}
				}
			}
			return true
		})
	}
	if !known {
		return nil
	}
	return out
}

func registers(function ast.Expr) bool {
	selector, ok := function.(*ast.SelectorExpr)
	return ok && (strings.HasPrefix(selector.Sel.Name, "AddKnownType") || selector.Sel.Name == "Register")
}

// literalOf returns the name of the type in &X{}; empty for other expressions.
func literalOf(arg ast.Expr) string {
	pointer, ok := arg.(*ast.UnaryExpr)
	if !ok {
		return ""
	}
	literal, ok := pointer.X.(*ast.CompositeLit)
	if !ok {
		return ""
	}
	if name, ok := literal.Type.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

// Registers reports whether a hand-written function init adds types to a scheme.
func (s *Source) Registers() bool {
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
