package load

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
)

// GroupVariable is a variable of a package that names the API group of its types.
type GroupVariable struct {
	Name, Group string
	Pos         token.Pos
}

// groupVariables are what packages call the group and version of their types.
var groupVariables = []string{"SchemeGroupVersion", "GroupVersion"}

// GroupVariables returns the variables SchemeGroupVersion and GroupVersion whose group is a literal or a constant. It
// leaves out those of generated files, but for dependencies, whose register.go another tool may have generated.
func (u *Universe) GroupVariables(p *types.Package) (out []GroupVariable) {
	for _, f := range u.filesOfGroup(p) {
		for _, d := range f.Decls {
			vars, ok := d.(*ast.GenDecl)
			if !ok || vars.Tok != token.VAR {
				continue
			}
			for _, spec := range vars.Specs {
				values := spec.(*ast.ValueSpec)
				for i, name := range values.Names {
					if !slices.Contains(groupVariables, name.Name) || i >= len(values.Values) {
						continue
					}
					if group, ok := u.constantText(p, f, groupIn(values.Values[i])); ok {
						out = append(out, GroupVariable{name.Name, group, name.Pos()})
					}
				}
			}
		}
	}
	return out
}

// filesOfGroup returns the hand-written files of a root, or those of a dependency that declare one of the variables.
func (u *Universe) filesOfGroup(p *types.Package) (files []*ast.File) {
	if s := u.sources[p.Path()]; s != nil && s.root {
		return slices.DeleteFunc(slices.Clone(s.files), func(f *ast.File) bool { return s.generated[f] })
	}
	for _, name := range u.filesOf(p.Path()) {
		declares := func(variable string) bool {
			o := p.Scope().Lookup(variable)
			return o != nil && filepath.Base(u.fset.Position(o.Pos()).Filename) == filepath.Base(name)
		}
		if !slices.ContainsFunc(groupVariables, declares) {
			continue
		}
		if f, _ := u.parseFile(name, nil, 0); f != nil {
			files = append(files, f)
		}
	}
	return files
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
func (u *Universe) constantText(p *types.Package, f *ast.File, expr ast.Expr) (string, bool) {
	var in *types.Package
	var name string
	switch expr := expr.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(expr.Value)
		return text, err == nil && expr.Kind == token.STRING
	case *ast.Ident:
		in, name = p, expr.Name
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
