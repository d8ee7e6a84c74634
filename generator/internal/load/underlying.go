package load

import (
	"go/ast"
	"go/types"
	"path"
)

// DeclaredOver returns the named type that a type is declared over, by the name that its declaration has for it; nil
// where that is a predeclared type or no name.
func (u *Universe) DeclaredOver(obj *types.TypeName, c *Comment) *types.Named {
	var name *ast.Ident
	p := obj.Pkg()
	switch e := c.over.(type) {
	case *ast.Ident:
		name = e
	case *ast.SelectorExpr:
		if qualifier, ok := e.X.(*ast.Ident); ok {
			name, p = e.Sel, u.imported(c.file, qualifier.Name)
		}
	}
	if name == nil || p == nil || obj.IsAlias() {
		return nil
	}
	o, ok := p.Scope().Lookup(name.Name).(*types.TypeName)
	if !ok {
		return nil
	}
	named, ok := types.Unalias(o.Type()).(*types.Named)
	if !ok || named.Obj() == obj || named.TypeParams().Len() > 0 {
		return nil
	}
	return named
}

// imported returns the package that a qualifier in a file means, or nil.
func (u *Universe) imported(f *ast.File, qualifier string) *types.Package {
	for at, spec := range importsOf(f) {
		called := path.Base(at)
		if meta := u.metas[at]; meta != nil && meta.Name != "" {
			called = meta.Name
		}
		if spec.Name != nil {
			called = spec.Name.Name
		}
		if called == qualifier {
			if p, err := u.Import(at); err == nil {
				return p
			}
		}
	}
	return nil
}
