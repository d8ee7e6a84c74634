package resolve

import (
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
)

// pkg returns the model of a package; that of a dependency holds what was met of it.
func (b *typeBuilder) pkg(p *types.Package) *model.Package {
	if m := b.packages[p.Path()]; m != nil {
		return m
	}
	m := &model.Package{Path: p.Path(), Name: p.Name()}
	b.packages[p.Path()] = m
	if info, ok := b.u.Info(p.Path()); ok {
		m.Dir = info.Dir
		m.Module = info.Module
		if m.Name == "" {
			m.Name = info.Name
		}
	}
	c := b.u.Comments(p, 0).Package
	m.Doc, m.Pos = c.Doc, c.Pos
	if model.IsVersion(m.Name) {
		m.Version = m.Name
	}
	b.marked(m, c.Markers.ToPackage(m))
	return m
}

// root builds a package that is read from source, without its declarations.
func (b *typeBuilder) root(s *load.Source) *model.Package {
	tp := s.Types
	if tp == nil {
		tp = types.NewPackage(s.Path(), s.Name())
	}
	m := b.pkg(tp)
	m.Output = s.Output
	m.Declared = b.u.Declared(s)
	m.Imports, m.Depends, m.RegistersInInit = s.Imports(), b.u.Depends(s), s.Registers()
	return m
}

func (b *typeBuilder) scope(m *model.Package, tp *types.Package, s *load.Source) {
	for _, o := range sorted(b, declared[*types.TypeName](tp)) {
		if n, ok := o.Type().(*types.Named); ok && !o.IsAlias() {
			m.Types = append(m.Types, b.namedType(n, true))
		}
	}
	b.expand()
	b.checkScheme(m, tp)
	b.checkGroup(m, tp)
	c := b.u.Comments(tp, 0)
	m.Mentions = s.Mentions()
	bodyNames := s.ConversionNames()
	for _, o := range declared[*types.Func](tp) { // scope names are sorted
		f := b.function(o, c)
		f.Mentioned, f.BodyNames = m.Mentions[f.Name], bodyNames[f.Name]
		m.Funcs = append(m.Funcs, f)
	}
	m.Consts = nil // those of enums may have been met before
	b.constants(m, declared[*types.Const](tp), c)
	for _, name := range []string{"localSchemeBuilder", "SchemeBuilder"} {
		if v, ok := tp.Scope().Lookup(name).(*types.Var); ok && m.LocalSchemeBuilder == "" && takesFunctions(v.Type()) {
			m.LocalSchemeBuilder = name
		}
	}
}

// takesFunctions reports whether a scheme builder's Register takes functions: that of controller-runtime takes objects.
func takesFunctions(builder types.Type) bool {
	obj, _, _ := types.LookupFieldOrMethod(builder, true, nil, "Register")
	fn, ok := obj.(*types.Func)
	if !ok || !fn.Signature().Variadic() {
		return false
	}
	params := fn.Signature().Params()
	last, ok := params.At(params.Len() - 1).Type().Underlying().(*types.Slice)
	if !ok {
		return false
	}
	_, ok = last.Elem().Underlying().(*types.Signature)
	return ok
}

// hookPrefixes are those of functions that generated code calls on data: the fields of their parameters matter.
var hookPrefixes = []string{"Convert_", "SetDefaults_", "SetObjectDefaults_"}

func (b *typeBuilder) function(f *types.Func, c *load.Comments) *model.Func {
	out := b.fn(f, true)
	said := c.Of(f.Pos(), f.Name())
	out.Doc = said.Doc
	b.marked(out.Package, said.Markers.ToFunc(out))
	if hasPrefix(f.Name(), hookPrefixes) {
		for v := range f.Signature().Params().Variables() {
			if p, ok := types.Unalias(v.Type()).(*types.Pointer); ok {
				b.typ(p)
			}
		}
	}
	return out
}

func hasPrefix(name string, prefixes []string) bool {
	return slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(name, p) })
}

// foreignPrefixes are those of the functions of dependencies that generated code may call.
var foreignPrefixes = []string{"Convert_", "WithinCreate", "WithinUpdate"}

// foreignHooks reads the functions of the dependencies that were met which generated code may call.
func (b *typeBuilder) foreignHooks() {
	for _, path := range slices.Sorted(maps.Keys(b.packages)) {
		m := b.packages[path]
		if m.Module == nil || m.Funcs != nil || b.u.Root(path) != nil {
			continue
		}
		tp, err := b.u.Import(path)
		if err != nil {
			continue
		}
		for _, f := range declared[*types.Func](tp) {
			if hasPrefix(f.Name(), foreignPrefixes) {
				m.Funcs = append(m.Funcs, b.fn(f, true))
			}
		}
	}
}

// constant reads a constant of a named type; nil for others.
func (b *typeBuilder) constant(c *types.Const, comments *load.Comments) *model.Const {
	named, ok := types.Unalias(c.Type()).(*types.Named)
	if !ok {
		return nil
	}
	value, ok := constantJSON(c.Val())
	if !ok {
		return nil
	}
	said := comments.Of(c.Pos(), c.Name())
	out := &model.Const{
		Name: c.Name(), Type: b.signatureType(named), Value: value, Doc: said.Doc, Pos: b.u.Position(c.Pos()),
	}
	b.marked(out.Type.Package, said.Markers.ToConst(out))
	return out
}

// constantJSON returns a constant's value as JSON, if there is such a thing.
func constantJSON(v constant.Value) (string, bool) {
	switch v.Kind() {
	case constant.String:
		return model.JSONString(constant.StringVal(v)), true
	case constant.Bool, constant.Int:
		return v.ExactString(), true
	case constant.Float:
		if i, whole := constant.Int64Val(constant.ToInt(v)); whole {
			return strconv.FormatInt(i, 10), true
		}
		f, _ := constant.Float64Val(v)
		return strconv.FormatFloat(f, 'g', -1, 64), true
	}
	return "", false
}

// readConstant gives a default that refers to a constant its value, if there is such a constant.
func (b *typeBuilder) readConstant(d *model.Default) {
	if d == nil || d.Ref == nil {
		return
	}
	if c, _ := lookup[*types.Const](b.u, d.Ref.Path, d.Ref.Name); c != nil {
		d.JSON, _ = constantJSON(c.Val())
	}
}

// enumConstants adds the constants of an enum of a dependency, whose other declarations are not read.
func (b *typeBuilder) enumConstants(o *types.TypeName) {
	consts := slices.DeleteFunc(declared[*types.Const](o.Pkg()), func(c *types.Const) bool {
		return !types.Identical(c.Type(), o.Type())
	})
	b.constants(b.pkg(o.Pkg()), consts, b.u.Comments(o.Pkg(), o.Pos()))
}

// constants adds those of named types to a package, in the order of the source.
func (b *typeBuilder) constants(m *model.Package, consts []*types.Const, c *load.Comments) {
	for _, o := range sorted(b, consts) {
		if x := b.constant(o, c); x != nil {
			m.Consts = append(m.Consts, x)
		}
	}
}

// whole returns the package of that path with all of its types.
func (b *typeBuilder) whole(path string) (*model.Package, error) {
	if b.u.Root(path) != nil {
		return b.packages[path], nil
	}
	tp, err := b.u.Import(path)
	if err != nil {
		return nil, err
	}
	m := b.pkg(tp)
	if m.Declared == nil {
		m.Declared, m.Types = map[string]model.Position{}, nil
		b.scope(m, tp, nil)
		for _, o := range declared[types.Object](tp) {
			m.Declared[o.Name()] = b.u.Position(o.Pos())
		}
	}
	return m, nil
}
