package load

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"strconv"
)

// GroupVariable is a hand-written variable of a package that names the API group of its types.
type GroupVariable struct {
	Name, Group string
	Pos         token.Pos
}

// GroupVariables returns the variables SchemeGroupVersion and GroupVersion whose group is a literal or a constant. A
// package that isn't read from source, whose Source is nil, shows none.
func (u *Universe) GroupVariables(s *Source) (out []GroupVariable) {
	if s == nil {
		return nil
	}
	for _, f := range s.files {
		if s.generated[f] {
			continue
		}
		for _, d := range f.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				values := spec.(*ast.ValueSpec)
				for i, name := range values.Names {
					if name.Name != "SchemeGroupVersion" && name.Name != "GroupVersion" || i >= len(values.Values) {
						continue
					}
					if group, ok := u.constantText(s, f, groupIn(values.Values[i])); ok {
						out = append(out, GroupVariable{name.Name, group, name.Pos()})
					}
				}
			}
		}
	}
	return out
}

// groupIn returns the group in a literal of a schema.GroupVersion, or nil.
func groupIn(value ast.Expr) ast.Expr {
	literal, ok := value.(*ast.CompositeLit)
	if !ok {
		return nil
	}
	for i, element := range literal.Elts {
		member, keyed := element.(*ast.KeyValueExpr)
		if !keyed {
			if i == 0 {
				return element
			}
			continue
		}
		if key, ok := member.Key.(*ast.Ident); ok && key.Name == "Group" {
			return member.Value
		}
	}
	return nil
}

// constantText returns the value of a literal, or of a constant of the package or of another one.
func (u *Universe) constantText(s *Source, f *ast.File, expr ast.Expr) (string, bool) {
	var in *types.Package
	var name string
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.Ident:
		in, name = s.Types, expr.Name
	case *ast.SelectorExpr:
		if qualifier, ok := expr.X.(*ast.Ident); ok {
			in, name = u.imported(f, qualifier.Name), expr.Sel.Name
		}
	}
	if in == nil {
		return "", false
	}
	c, ok := in.Scope().Lookup(name).(*types.Const)
	if !ok || c.Val().Kind() != constant.String {
		return "", false
	}
	return constant.StringVal(c.Val()), true
}
