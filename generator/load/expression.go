package load

import (
	"go/ast"
	"go/token"
	"go/types"
)

// expressionAt returns the longest expression of a declaration that begins at a position, and the identifier there.
// Either may be missing.
func expressionAt(decl ast.Decl, pos token.Pos) (longest ast.Expr, name string) {
	if decl == nil {
		return nil, ""
	}
	ast.Inspect(decl, func(n ast.Node) bool {
		if expr, ok := n.(ast.Expr); ok && expr.Pos() == pos {
			if longest == nil {
				longest = expr
			}
			if id, ok := expr.(*ast.Ident); ok {
				name = id.Name
			}
		}
		return n != nil && n.Pos() <= pos && pos <= n.End()
	})
	return longest, name
}

// usesUncopied tells whether an expression has a part whose type is an API type without DeepCopyObject: the generated
// file with that method isn't there.
func (c *compilation) usesUncopied(s *Source, expr ast.Expr) bool {
	if expr == nil || s.types == nil {
		return false
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// An error is the one that is being diagnosed; info has the types of the parts that are right.
	_ = types.CheckExpr(c.fset, s.types, expr.Pos(), expr, info)
	for _, part := range info.Types {
		if isUncopied(part.Type) {
			return true
		}
	}
	return false
}

func isUncopied(t types.Type) bool {
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named, ok := t.(*types.Named)
	if !ok {
		return false
	}
	structure, ok := named.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for i := range structure.NumFields() {
		if f := structure.Field(i); f.Embedded() && f.Name() == "TypeMeta" {
			method, _, _ := types.LookupFieldOrMethod(types.NewPointer(named), false, named.Obj().Pkg(),
				"DeepCopyObject")
			return method == nil
		}
	}
	return false
}
