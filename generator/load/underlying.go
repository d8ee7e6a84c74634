package load

import (
	"go/ast"
	"go/types"
	"path"
)

// name is a type's name as a file writes it.
type name struct {
	qualifier, name string
	file            *ast.File
}

// nameIn returns the name that a type expression of a file is, or nil where it is none.
func nameIn(f *ast.File, e ast.Expr) *name {
	switch e := e.(type) {
	case *ast.Ident:
		return &name{name: e.Name}
	case *ast.SelectorExpr:
		if id, ok := e.X.(*ast.Ident); ok {
			return &name{qualifier: id.Name, name: e.Sel.Name, file: f}
		}
	case *ast.ParenExpr:
		return nameIn(f, e.X)
	}
	return nil
}

// DeclaredOver returns the named type that a type is declared over, by the name that its declaration has for it; nil
// where that is a predeclared type or no name.
func (u *Universe) DeclaredOver(obj *types.TypeName, c *Comment) *types.Named {
	n := c.over
	if n == nil || obj.IsAlias() {
		return nil
	}
	p := obj.Pkg()
	if n.qualifier != "" {
		p = u.imported(n)
	}
	if p == nil {
		return nil
	}
	o, ok := p.Scope().Lookup(n.name).(*types.TypeName)
	if !ok {
		return nil
	}
	named, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || named.Obj() == obj || named.TypeParams().Len() > 0 {
		return nil
	}
	return named
}

// imported returns the package that a qualifier means, or nil.
func (u *Universe) imported(n *name) *types.Package {
	for at, spec := range importsOf(n.file) {
		called := path.Base(at)
		if meta := u.metas[at]; meta != nil && meta.Name != "" {
			called = meta.Name
		}
		if spec.Name != nil {
			called = spec.Name.Name
		}
		if called != n.qualifier {
			continue
		}
		if p, err := u.Import(at); err == nil {
			return p
		}
	}
	return nil
}
