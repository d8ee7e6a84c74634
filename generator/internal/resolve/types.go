package resolve

import (
	"cmp"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"sort"
	"strings"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
)

// typ returns the model of a type, with the fields of all structs that are reached through it.
func (b *typeBuilder) typ(t types.Type) *model.Type { return b.convert(t, true) }

// signatureType returns the model of a type in a signature: named types have no fields there, unless they are reached
// in another way.
func (b *typeBuilder) signatureType(t types.Type) *model.Type { return b.convert(t, false) }

func (b *typeBuilder) convert(t types.Type, expand bool) *model.Type {
	t = types.Unalias(t)
	if n, ok := t.(*types.Named); ok {
		return b.namedType(n, expand)
	}
	if m := b.shapes[t]; m != nil && expand {
		return m
	}
	m := &model.Type{}
	if expand {
		b.shapes[t] = m
	}
	b.shape(m, t, expand)
	return m
}

// namedType returns the one model of a named type.
func (b *typeBuilder) namedType(n *types.Named, expand bool) *model.Type {
	key := types.TypeString(n, nil)
	m := b.named[key]
	if m == nil {
		obj := n.Obj()
		m = &model.Type{Name: obj.Name(), Pos: b.u.Position(obj.Pos()), Form: form(n.Underlying())}
		b.named[key] = m
		if obj.Pkg() != nil {
			m.Package = b.pkg(obj.Pkg())
		}
		m.Generic = n.TypeParams().Len() > n.TypeArgs().Len()
		for arg := range n.TypeArgs().Types() {
			m.TypeArgs = append(m.TypeArgs, b.signatureType(arg))
		}
		if basic, ok := n.Underlying().(*types.Basic); ok {
			m.Basic = basic.Name()
		}
	}
	if expand && !b.expanded[m] {
		b.expanded[m] = true
		b.pending = append(b.pending, expansion{m, n})
	}
	return m
}

// expand fills in the named types that were met; it ends when no new one turns up.
func (b *typeBuilder) expand() {
	for len(b.pending) > 0 {
		x := b.pending[len(b.pending)-1]
		b.pending = b.pending[:len(b.pending)-1]
		b.fill(x.to, x.from)
	}
}

func (b *typeBuilder) fill(m *model.Type, n *types.Named) {
	b.shape(m, n.Underlying(), true)
	obj := n.Obj()
	if obj.Pkg() == nil {
		return
	}
	comments := b.u.Comments(obj.Pkg(), obj.Pos())
	said := comments.Of(obj.Pos(), obj.Name())
	m.Doc = said.Doc
	if said.Pos.IsValid() {
		m.Pos = said.Pos
	}
	if st, ok := n.Underlying().(*types.Struct); ok {
		b.annotate(m, st, obj, comments)
	}
	if of := b.u.DeclaredOver(obj, said); of != nil {
		m.Of = b.namedType(of, true)
	}
	b.methods(m, n)
	b.typeMarkers(m, n, comments, said.Markers)
	b.checkObject(m, n)
}

func (b *typeBuilder) annotate(m *model.Type, st *types.Struct, obj *types.TypeName, c *load.Comments) {
	for i, f := range m.Fields {
		v := st.Field(i)
		if b.u.IsRoot(v.Pkg()) {
			continue // it was read with the field itself
		}
		from, owner := c, obj.Name()
		if v.Pkg() != nil && v.Pkg() != obj.Pkg() {
			from, owner = b.u.Comments(v.Pkg(), v.Pos()), "" // a type over a foreign struct
		}
		b.fieldDefaults(b.pkg(v.Pkg()), from)
		b.fieldMarkers(f, v, from.Of(v.Pos(), owner+"."+v.Name()))
	}
}

// holder is a pointer, a list, a map or a channel.
type holder interface{ Elem() types.Type }

func (b *typeBuilder) shape(m *model.Type, t types.Type, expand bool) {
	m.Form = form(t)
	if expand {
		b.lostBelow(t)
	}
	switch t := t.(type) {
	case *types.Basic:
		m.Basic, m.Unknown = t.Name(), t.Kind() == types.Invalid
	case *types.Array:
		m.Elem, m.Len = b.convert(t.Elem(), expand), t.Len()
	case *types.Map:
		m.Key, m.Elem = b.convert(t.Key(), expand), b.convert(t.Elem(), expand)
	case holder:
		m.Elem = b.convert(t.Elem(), expand)
	case *types.Interface:
		for f := range t.Methods() {
			m.InterfaceMethods = append(m.InterfaceMethods, f.Name())
		}
		sort.Strings(m.InterfaceMethods)
	case *types.TypeParam:
		m.Name = t.Obj().Name()
	case *types.Struct:
		for i := range t.NumFields() {
			m.Fields = append(m.Fields, b.field(t.Field(i), t.Tag(i), expand))
		}
	}
}

func form(t types.Type) model.Form {
	switch t := t.(type) {
	case *types.Basic:
		switch t.Kind() {
		case types.UnsafePointer:
			return model.UnsafePointer
		case types.Invalid:
			return model.Interface // nothing is known of it
		}
		return model.Basic
	case *types.Pointer:
		return model.Pointer
	case *types.Slice:
		return model.Slice
	case *types.Array:
		return model.Array
	case *types.Map:
		return model.Map
	case *types.Struct:
		return model.Struct
	case *types.Interface:
		return model.Interface
	case *types.Signature:
		return model.Func_
	case *types.Chan:
		return model.Chan
	case *types.TypeParam:
		return model.TypeParam
	}
	return model.Interface
}

func (b *typeBuilder) field(v *types.Var, tag string, expand bool) *model.Field {
	f := &model.Field{
		Name: v.Name(), Pos: b.u.Position(v.Pos()), Embedded: v.Embedded(), Tag: tag, Exported: v.Exported(),
		Type: b.convert(v.Type(), expand),
	}
	b.wireName(f, v)
	if b.u.IsRoot(v.Pkg()) && invalid(v.Type()) {
		b.invalid.Add(f.Pos, "the type of field %s is unknown: its declaration doesn't compile", v.Name())
	}
	st := reflect.StructTag(tag)
	f.Schema.PatchStrategy, f.Schema.PatchMergeKey = st.Get("patchStrategy"), st.Get("patchMergeKey")
	if b.u.IsRoot(v.Pkg()) {
		if said := b.u.Comments(v.Pkg(), v.Pos()).At(v.Pos()); said != nil {
			b.fieldMarkers(f, v, said)
		}
	}
	return f
}

// invalid reports whether the type checker gave up on a type, or on what it points to or holds.
func invalid(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Map:
		return invalid(t.Key()) || invalid(t.Elem())
	case holder:
		return invalid(t.Elem())
	}
	return false
}

func (b *typeBuilder) wireName(f *model.Field, v *types.Var) {
	tag, tagged := reflect.StructTag(f.Tag).Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	omits := func(option string) bool { return option == "omitempty" || option == "omitzero" }
	f.OmitEmpty = slices.ContainsFunc(strings.Split(options, ","), omits)
	structure := func() bool {
		t := types.Unalias(v.Type())
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		_, ok := t.Underlying().(*types.Struct)
		return ok
	}
	switch {
	case tagged && tag == "-":
		f.Ignored = true
	case !v.Exported() && !(v.Embedded() && structure()):
		f.Ignored = true
	case v.Embedded() && name == "" && structure():
		f.Inline = true
	case name != "":
		f.JSON = name
	default:
		f.JSON = v.Name()
	}
}

type typeBuilder struct {
	*faults

	packages map[string]*model.Package
	named    map[string]*model.Type
	shapes   map[types.Type]*model.Type
	// markers counts those that were read of dependencies.
	markers map[*model.Package]int
	// pending are named types whose fields are yet to be read.
	pending  []expansion
	expanded map[*model.Type]bool
}

type expansion struct {
	to   *model.Type
	from *types.Named
}

func newTypeBuilder(f *faults) *typeBuilder {
	return &typeBuilder{
		faults:   f,
		packages: map[string]*model.Package{},
		named:    map[string]*model.Type{},
		shapes:   map[types.Type]*model.Type{},
		markers:  map[*model.Package]int{},
		expanded: map[*model.Type]bool{},
	}
}

// packagesOf builds packages that are read from source. It reads the markers of all packages before any declarations,
// which lead to types of other packages.
func (b *typeBuilder) packagesOf(roots []*load.Source) []*model.Package {
	var out []*model.Package
	for _, s := range roots {
		out = append(out, b.root(s))
	}
	for i, s := range roots {
		if s.Types != nil && !s.Shallow {
			b.scope(out[i], s.Types, s)
		}
	}
	b.expand()
	return out
}

func (b *typeBuilder) all() []*model.Type {
	var out []*model.Type
	for _, key := range slices.Sorted(maps.Keys(b.named)) {
		out = append(out, b.named[key])
	}
	return out
}

// declared returns what a package declares of one sort, by name.
func declared[T types.Object](p *types.Package) []T {
	var out []T
	for _, name := range p.Scope().Names() {
		if o, ok := p.Scope().Lookup(name).(T); ok {
			out = append(out, o)
		}
	}
	return out
}

// sorted brings objects into the order of the source.
func sorted[T types.Object](b *typeBuilder, objs []T) []T {
	slices.SortFunc(objs, func(x, y T) int {
		p, q := b.u.Position(x.Pos()), b.u.Position(y.Pos())
		return cmp.Or(
			cmp.Compare(p.Filename, q.Filename), cmp.Compare(p.Offset, q.Offset), cmp.Compare(p.Line, q.Line),
			cmp.Compare(x.Name(), y.Name()),
		)
	})
	return objs
}
