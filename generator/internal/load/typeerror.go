package load

import (
	"go/ast"
	"go/token"
	"go/types"
	"path"
	"strings"
)

// typeError decides what a type error means before anything is generated. Errors in declarations of types, constants
// and signatures are the user's, for the model is made of them. Errors elsewhere may come from code that is not
// generated yet: the check of the finished code finds those that remain.
func (u *Universe) typeError(s *Source, e types.Error) {
	if e.Soft {
		return
	}
	f, decl := s.enclosing(u.fset, e.Pos)
	if f == nil {
		return
	}
	pos := u.fset.Position(e.Pos)
	if s.generated[f] && strings.HasPrefix(e.Msg, "could not import") {
		// The checker reports a missing package once, wherever it is imported first.
		if by := s.handImport(importAt(f, e.Pos)); by.IsValid() {
			u.errs.Add(u.fset.Position(by), "%s", e.Msg)
			return
		}
		u.causes.Add(pos, "%s", e.Msg)
	}
	if s.generated[f] {
		u.warnings.Add(pos, "in a file that another tool generated: %s", e.Msg)
		return
	}
	if strings.Contains(e.Msg, "missing method DeepCopy") {
		return
	}
	switch d := decl.(type) {
	case *ast.GenDecl:
		if name, ok := strings.CutPrefix(e.Msg, "undefined: "); ok && d.Tok == token.CONST && registered[name] {
			return
		}
		if d.Tok == token.VAR || d.Tok == token.IMPORT && path.Base(importAt(f, e.Pos)) == "wiring" {
			return
		}
	case nil:
		return
	}
	if s.Output || s.root && own(s.meta) {
		s.wrong = true
		u.errs.Add(pos, "%s", e.Msg)
	}
}

// recursive begins what the type checker says of a type that holds itself.
const recursive = "invalid recursive type"

// joined puts what the type checker says in several errors, the later ones indented, into the first: the way around a
// recursive type.
func joined(errs []types.Error) []types.Error {
	var out []types.Error
	for _, e := range errs {
		if more, ok := strings.CutPrefix(e.Msg, "\t"); ok && len(out) > 0 {
			last := &out[len(out)-1]
			sep := ", "
			if !strings.Contains(last.Msg, " refers to ") {
				sep = ": "
			}
			last.Msg += sep + more
			continue
		}
		out = append(out, e)
	}
	for i := range out {
		if strings.HasPrefix(out[i].Msg, recursive) {
			out[i].Msg += "; hold it by a pointer, a list or a map"
		}
	}
	return out
}

// registered are the names by which constants may know what is generated for a package: those of its group.
var registered = map[string]bool{"GroupName": true, "GroupVersion": true, "SchemeGroupVersion": true}

// importAt returns the path of the import at a position; empty if there is none.
func importAt(f *ast.File, pos token.Pos) string {
	for path, spec := range importsOf(f) {
		if spec.Pos() <= pos && pos <= spec.End() {
			return path
		}
	}
	return ""
}

func (s *Source) handImport(path string) token.Pos {
	return s.importOf(path, func(f *ast.File) bool { return !s.generated[f] })
}

func (s *Source) enclosing(fset *token.FileSet, pos token.Pos) (*ast.File, ast.Decl) {
	for _, f := range s.files {
		if pos < f.FileStart || pos > f.FileEnd {
			continue
		}
		for _, d := range f.Decls {
			if d.Pos() <= pos && pos <= d.End() {
				return f, d
			}
		}
		return f, nil
	}
	return nil, nil
}

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

// usesUncopied reports whether an expression has a part whose type is an API type without DeepCopyObject: the generated
// file with that method isn't there.
func (c *compilation) usesUncopied(s *Source, expr ast.Expr) bool {
	if expr == nil || s.Types == nil {
		return false
	}
	info := &types.Info{Types: map[ast.Expr]types.TypeAndValue{}}
	// An error is the one that is being diagnosed; info has the types of the parts that are right.
	_ = types.CheckExpr(c.fset, s.Types, expr.Pos(), expr, info)
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
