package load

import (
	"go/constant"
	"go/types"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"

	"apigen.dev/generator/marker"
	"apigen.dev/generator/model"
)

// pkg returns the model of a package; that of a dependency holds what was met of it.
func (b *builder) pkg(p *types.Package) *model.Package {
	if m := b.packages[p.Path()]; m != nil {
		return m
	}
	m := &model.Package{Path: p.Path(), Name: p.Name()}
	b.packages[p.Path()] = m
	if meta := b.l.metas[p.Path()]; meta != nil {
		m.Dir = meta.Dir
		m.Module = b.module(meta)
		if m.Name == "" {
			m.Name = meta.Name
		}
	}
	b.packageMarkers(m, b.notesOf(p, 0))
	return m
}

func (b *builder) module(p *packages.Package) *model.Module {
	if p.Module == nil {
		return nil
	}
	m := b.modules[p.Module.Path]
	if m == nil {
		dir := p.Module.Dir
		m = &model.Module{Path: p.Module.Path, Dir: dir, Own: p.Module.Main}
		b.modules[p.Module.Path] = m
	}
	return m
}

// root builds a package that is read from source, its declarations aside: those of one package lead to types of others,
// about which the markers of their packages have a say.
func (b *builder) root(s *source) *model.Package {
	tp := s.types
	if tp == nil {
		tp = types.NewPackage(s.meta.PkgPath, s.meta.Name)
	}
	m := b.pkg(tp)
	m.Output = s.output
	m.Declared = s.declared(b)
	m.Imports, m.RegistersInInit = s.imports(), s.registers()
	return m
}

// declarations reads what a root declares.
func (b *builder) declarations(m *model.Package, s *source) {
	if s.types != nil && !s.shallow {
		b.scope(m, s.types, s)
	}
}

// packageMarkers reads the markers of a package. Packages that they name are resolved later.
func (b *builder) packageMarkers(m *model.Package, n *notes) {
	ms := n.pkg.markers
	m.Doc, m.Pos = n.pkg.doc, n.pkg.pos
	if g, ok := ms.Get("groupName"); ok {
		m.Group, m.HasGroup = g.Value, true
	}
	if isVersion(m.Name) {
		m.Version = m.Name
	}
	if v, ok := ms.Get("versionName"); ok && b.checkVersion(m, v) {
		m.Version = v.Value
	}
	if g, ok := ms.Get("k8s:deepcopy-gen"); ok {
		m.DeepCopy = slices.Contains(strings.Split(g.Value, ","), "package")
	}
	if g, ok := ms.Get("kubebuilder:object:generate"); ok {
		m.DeepCopy = g.True()
	}
	for _, c := range ms.All("k8s:conversion-gen") {
		if c.Value == "false" {
			m.ConversionOff = true
		} else if c.Value != "true" {
			m.ConversionPeers = append(m.ConversionPeers, c.Value)
		}
	}
	if d, ok := ms.Get("k8s:defaulter-gen"); ok && d.Value != "false" {
		m.Defaulter = true
		if d.Value != "true" {
			m.DefaulterField = d.Value
		}
	}
	m.Validation = ms.Has("k8s:validation-gen")
	b.checkGroup(m, ms)
	m.CollectGroups = ms.Has("apigen:groups")
	m.RoundTripOff = switchedOff(ms, "apigen:roundtrip")
	m.Clients = ms.Has("apigen:clients")
	m.Reference = b.folder(m, ms, "apigen:reference")
	m.CRDs = b.folder(m, ms, "apigen:crds")
	m.EmbeddedMetadata, m.Skip = ms.Has("apigen:crds:embeddedMetadata"), ms.Has("kubebuilder:skip")
	if p, ok := ms.Get("k8s:openapi-model-package"); ok {
		m.ModelPackage = p.Value
	}
}

// scope reads the declarations of a root.
func (b *builder) scope(m *model.Package, tp *types.Package, s *source) {
	var named, funcs, consts []types.Object
	for _, name := range tp.Scope().Names() {
		switch o := tp.Scope().Lookup(name).(type) {
		case *types.TypeName:
			if !o.IsAlias() {
				named = append(named, o)
			}
		case *types.Func:
			funcs = append(funcs, o)
		case *types.Const:
			consts = append(consts, o)
		}
	}
	for _, o := range b.sorted(named) {
		if n, ok := o.Type().(*types.Named); ok {
			m.Types = append(m.Types, b.namedType(n, true))
		}
	}
	b.expand()
	b.checkScheme(m, tp)
	n := b.notesOf(tp, 0)
	mentioned := s.mentions()
	for _, o := range funcs { // scope names are sorted
		f := b.function(o.(*types.Func), n)
		f.Mentioned = mentioned[f.Name]
		m.Funcs = append(m.Funcs, f)
	}
	m.Consts = nil // those of enums may have been met before
	for _, o := range b.sorted(consts) {
		if c := b.constant(o.(*types.Const), n); c != nil {
			m.Consts = append(m.Consts, c)
		}
	}
	for _, name := range []string{"localSchemeBuilder", "SchemeBuilder"} {
		if v, ok := tp.Scope().Lookup(name).(*types.Var); ok && m.LocalSchemeBuilder == "" && takesFunctions(v.Type()) {
			m.LocalSchemeBuilder = name
		}
	}
}

// takesFunctions tells scheme builders as runtime.SchemeBuilder, whose Register takes functions, from those that take
// objects, as controller-runtime's does.
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

func (b *builder) function(f *types.Func, n *notes) *model.Func {
	out := b.fn(f, true)
	nt := n.of(f.Pos(), f.Name())
	out.Doc = nt.doc
	if c, ok := nt.markers.Get("k8s:conversion-fn"); ok {
		out.ConversionFn = c.Value
	}
	if d, ok := nt.markers.Get("k8s:defaulter-gen"); ok {
		out.Covers = d.Value == "covers"
	}
	if slices.ContainsFunc(hookPrefixes, func(p string) bool { return strings.HasPrefix(f.Name(), p) }) {
		sig := f.Signature()
		for i := range sig.Params().Len() {
			if p, ok := types.Unalias(sig.Params().At(i).Type()).(*types.Pointer); ok {
				b.typ(p)
			}
		}
	}
	return out
}

// foreignHooks reads the conversion functions of the dependencies that were met: generated code may call them.
func (b *builder) foreignHooks() {
	for _, path := range slices.Sorted(maps.Keys(b.packages)) {
		m := b.packages[path]
		if m.Module == nil || m.Funcs != nil || b.l.sources[path] != nil && b.l.sources[path].root {
			continue
		}
		tp, err := b.l.load(path)
		if err != nil {
			continue
		}
		for _, name := range tp.Scope().Names() {
			if f, ok := tp.Scope().Lookup(name).(*types.Func); ok && strings.HasPrefix(name, "Convert_") {
				m.Funcs = append(m.Funcs, b.fn(f, true))
			}
		}
	}
}

// constant reads a constant of a named type; nil for others.
func (b *builder) constant(c *types.Const, n *notes) *model.Const {
	named, ok := types.Unalias(c.Type()).(*types.Named)
	if !ok {
		return nil
	}
	value, ok := constantJSON(c.Val())
	if !ok {
		return nil
	}
	nt := n.of(c.Pos(), c.Name())
	return &model.Const{
		Name: c.Name(), Type: b.signatureType(named), Value: value,
		Doc: nt.doc, Pos: b.position(c.Pos()), Excluded: effective(nt.markers).Has("k8s:enumExclude"),
	}
}

// constantJSON is a constant's value as JSON, where there is such a thing.
func constantJSON(v constant.Value) (string, bool) {
	switch v.Kind() {
	case constant.String:
		return quoteJSON(constant.StringVal(v)), true
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

// constantOf is the value of the constant that a reference names; empty where there is none.
func (b *builder) constantOf(r model.Ref) string {
	p, err := b.l.load(r.Path)
	if err != nil {
		return ""
	}
	c, ok := p.Scope().Lookup(r.Name).(*types.Const)
	if !ok {
		return ""
	}
	value, _ := constantJSON(c.Val())
	return value
}

// enumConstants adds the constants of an enum of a dependency, whose other declarations are not read.
func (b *builder) enumConstants(o *types.TypeName) {
	m := b.pkg(o.Pkg())
	var consts []types.Object
	for _, name := range o.Pkg().Scope().Names() {
		if c, ok := o.Pkg().Scope().Lookup(name).(*types.Const); ok && types.Identical(c.Type(), o.Type()) {
			consts = append(consts, c)
		}
	}
	n := b.notesOf(o.Pkg(), o.Pos())
	for _, c := range b.sorted(consts) {
		if x := b.constant(c.(*types.Const), n); x != nil {
			m.Consts = append(m.Consts, x)
		}
	}
}

// resolvePackage resolves the packages that markers of a root name.
func (b *builder) resolvePackage(m *model.Package) {
	ms := b.notes[m.Path].pkg.markers
	for _, c := range ms.All("k8s:conversion-gen") {
		if c.Value == "false" || c.Value == "true" {
			continue
		}
		if peer := b.namedPackage(m, c); peer != nil {
			m.Peers = append(m.Peers, peer)
		} else {
			m.ConversionPeers = slices.DeleteFunc(m.ConversionPeers, func(path string) bool { return path == c.Value })
		}
	}
	if x, ok := ms.Get("k8s:conversion-gen-external-types"); ok {
		m.ConversionExternal = b.namedPackage(m, x)
	}
	if x, ok := ms.Get("k8s:defaulter-gen-input"); ok {
		m.DefaulterInput = b.namedPackage(m, x)
	}
	b.serve(m, ms)
}

// namedPackage is the package that a marker of other generators names; nil, and a fault, where there is none: projects keep such
// markers after the package has gone.
func (b *builder) namedPackage(m *model.Package, at marker.Marker) *model.Package {
	named, err := b.resolve(at.Value)
	if err != nil {
		b.fault(m, at.Pos, "package %s of marker \"+%s\" can't be loaded: %v", at.Value, at.Name, err)
	}
	return named
}

// resolve returns the package of that path with all of its types.
func (b *builder) resolve(path string) (*model.Package, error) {
	if s := b.l.sources[path]; s != nil && s.root {
		return b.packages[path], nil
	}
	tp, err := b.l.load(path)
	if err != nil {
		return nil, err
	}
	m := b.pkg(tp)
	if m.Declared == nil {
		m.Declared = map[string]model.Position{}
		b.foreignScope(m, tp)
	}
	return m, nil
}

// foreignScope reads the declarations of a dependency that a marker names.
func (b *builder) foreignScope(m *model.Package, tp *types.Package) {
	m.Types = nil
	b.scope(m, tp, nil)
	for _, name := range tp.Scope().Names() {
		m.Declared[name] = b.position(tp.Scope().Lookup(name).Pos())
	}
}

// folder is the folder that a package's marker names, relative to the package's, in the same module.
func (b *builder) folder(p *model.Package, ms marker.Markers, name string) *model.Folder {
	m, ok := ms.Get(name)
	if !ok || p.Module == nil || !p.Module.Own {
		return nil
	}
	dir := filepath.Join(p.Dir, filepath.FromSlash(m.Value))
	rel, err := filepath.Rel(p.Module.Dir, dir)
	if err != nil || !filepath.IsLocal(rel) || path.IsAbs(m.Value) {
		b.errorf(m.Pos, "marker \"+%s\": %q is no folder of this module: name one relative to that of the package: +%s=../docs", name, m.Value, name)
		return nil
	}
	return &model.Folder{Dir: dir, Pos: m.Pos}
}
