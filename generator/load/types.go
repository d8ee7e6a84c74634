package load

import (
	"go/types"
	"reflect"
	"regexp"
	"sort"
	"strings"

	"apigen.dev/generator/model"
	"apigen.dev/generator/spelling"
)

// typ returns the model of a type, with the fields of all structs that are reached through it.
func (b *builder) typ(t types.Type) *model.Type { return b.convert(t, true) }

// signatureType returns the model of a type in a signature: named types have no fields there, unless they are reached
// in another way.
func (b *builder) signatureType(t types.Type) *model.Type { return b.convert(t, false) }

func (b *builder) convert(t types.Type, expand bool) *model.Type {
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
func (b *builder) namedType(n *types.Named, expand bool) *model.Type {
	key := types.TypeString(n, nil)
	m := b.named[key]
	if m == nil {
		obj := n.Obj()
		m = &model.Type{Name: obj.Name(), Pos: b.position(obj.Pos()), Form: form(n.Underlying())}
		b.named[key] = m
		if obj.Pkg() != nil {
			m.Package = b.pkg(obj.Pkg())
		}
		for i := range n.TypeArgs().Len() {
			m.TypeArgs = append(m.TypeArgs, b.convert(n.TypeArgs().At(i), false))
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
func (b *builder) expand() {
	for len(b.pending) > 0 {
		x := b.pending[len(b.pending)-1]
		b.pending = b.pending[:len(b.pending)-1]
		b.fill(x.to, x.from)
	}
}

func (b *builder) fill(m *model.Type, n *types.Named) {
	b.shape(m, n.Underlying(), true)
	obj := n.Obj()
	if obj.Pkg() == nil {
		return
	}
	notes := b.notesOf(obj.Pkg(), obj.Pos())
	nt := notes.of(obj.Pos(), obj.Name())
	m.Doc = nt.doc
	if nt.pos.IsValid() {
		m.Pos = nt.pos
	}
	if st, ok := n.Underlying().(*types.Struct); ok {
		b.annotate(m, st, obj, notes)
	}
	m.Of = b.over(obj, nt.over)
	b.methods(m, n)
	b.typeMarkers(m, n, nt)
	b.checkObject(m, n)
	if m.Kind != nil {
		b.checkTop(m, n)
	}
}

// annotate gives the fields of a named struct what comments say of them. The fields of a type over another struct type
// are declared there.
func (b *builder) annotate(m *model.Type, st *types.Struct, obj *types.TypeName, n *notes) {
	for i, f := range m.Fields {
		v := st.Field(i)
		if b.isRoot(v.Pkg()) {
			continue // it was read with the field itself
		}
		from, owner := n, obj.Name()
		if v.Pkg() != nil && v.Pkg() != obj.Pkg() {
			from, owner = b.notesOf(v.Pkg(), v.Pos()), "" // a type over a foreign struct
		}
		b.fieldMarkers(f, b.pkg(v.Pkg()), from.of(v.Pos(), owner+"."+v.Name()))
	}
}

// shape fills in what the underlying type says.
func (b *builder) shape(m *model.Type, t types.Type, expand bool) {
	m.Form = form(t)
	switch t := t.(type) {
	case *types.Basic:
		m.Basic = t.Name()
	case *types.Pointer:
		m.Elem = b.convert(t.Elem(), expand)
	case *types.Slice:
		m.Elem = b.convert(t.Elem(), expand)
	case *types.Array:
		m.Elem, m.Len = b.convert(t.Elem(), expand), t.Len()
	case *types.Chan:
		m.Elem = b.convert(t.Elem(), expand)
	case *types.Map:
		m.Key, m.Elem = b.convert(t.Key(), expand), b.convert(t.Elem(), expand)
	case *types.Interface:
		for i := range t.NumMethods() {
			m.InterfaceMethods = append(m.InterfaceMethods, t.Method(i).Name())
		}
		sort.Strings(m.InterfaceMethods)
	case *types.TypeParam:
		m.Name = t.Obj().Name()
	case *types.Struct:
		for i := range t.NumFields() {
			m.Fields = append(m.Fields, b.field(t.Field(i), t.Tag(i), expand))
		}
		b.checkNames(m.Fields, t)
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

// untold begins what is said of a field whose type doesn't compile.
const untold = "the type of field"

// field reads a field and its tag; comments come later, where they are known.
func (b *builder) field(v *types.Var, tag string, expand bool) *model.Field {
	f := &model.Field{
		Name: v.Name(), Pos: b.position(v.Pos()), Embedded: v.Embedded(), Tag: tag, Exported: v.Exported(),
		Type: b.convert(v.Type(), expand),
	}
	b.wireName(f, v)
	if b.isRoot(v.Pkg()) && invalid(v.Type()) {
		b.errorf(f.Pos, untold+" %s can't be told: what it is declared with doesn't compile", v.Name())
	}
	st := reflect.StructTag(tag)
	f.Schema.PatchStrategy, f.Schema.PatchMergeKey = st.Get("patchStrategy"), st.Get("patchMergeKey")
	if b.isRoot(v.Pkg()) {
		if n := b.notesOf(v.Pkg(), v.Pos()).byPos[v.Pos()]; n != nil {
			b.fieldMarkers(f, b.pkg(v.Pkg()), n)
		}
	}
	return f
}

// isRoot tells whether a package is read from source for its own sake.
func (b *builder) isRoot(p *types.Package) bool {
	if p == nil {
		return false
	}
	s := b.l.sources[p.Path()]
	return s != nil && s.root
}

// invalid tells whether the type checker gave up on a type, or on what it points to or holds.
func invalid(t types.Type) bool {
	switch t := types.Unalias(t).(type) {
	case *types.Basic:
		return t.Kind() == types.Invalid
	case *types.Pointer:
		return invalid(t.Elem())
	case *types.Slice:
		return invalid(t.Elem())
	case *types.Array:
		return invalid(t.Elem())
	case *types.Map:
		return invalid(t.Key()) || invalid(t.Elem())
	}
	return false
}

// wireName decides what encoding/json calls the field.
func (b *builder) wireName(f *model.Field, v *types.Var) {
	tag, tagged := reflect.StructTag(f.Tag).Lookup("json")
	name, options, _ := strings.Cut(tag, ",")
	for _, o := range strings.Split(options, ",") {
		if o == "omitempty" || o == "omitzero" {
			f.OmitEmpty = true
		}
	}
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

// checkNames reports names on the wire that two fields of a struct have: encoding/json would leave out both. It also
// reports tags that can't be read.
func (b *builder) checkNames(fields []*model.Field, t *types.Struct) {
	seen := map[string]*model.Field{}
	for i, f := range fields {
		if !b.isWritten(t.Field(i).Pkg()) {
			return
		}
		if _, ok := reflect.StructTag(f.Tag).Lookup("json"); !ok && strings.Contains(f.Tag, "json:") {
			b.errorf(f.Pos, "the tag `%s` of field %s can't be read: write `json:\"name\"`", f.Tag, f.Name)
		}
		b.checkTag(f, fields, b.pkg(t.Field(i).Pkg()))
		if f.Ignored || f.Inline {
			continue
		}
		if other := seen[f.JSON]; other != nil {
			b.errorf(f.Pos, "the fields %s and %s have the same name on the wire, %q: encoding/json would leave out both", other.Name, f.Name, f.JSON)
			continue
		}
		seen[f.JSON] = f
	}
}

// checkTag warns of options of a tag that are misspelt, and of fields without a tag beside such with one, but for those of
// internal types, which are never on the wire.
func (b *builder) checkTag(f *model.Field, beside []*model.Field, in *model.Package) {
	tag, tagged := reflect.StructTag(f.Tag).Lookup("json")
	_, options, _ := strings.Cut(tag, ",")
	for _, o := range strings.Split(options, ",") {
		if s := spelling.Nearest(o, jsonOptions); o != "" && s != "" && s != o {
			b.warnings.Add(f.Pos, "the option %q in the tag of field %s means nothing: did you mean %q?", o, f.Name, s)
		}
	}
	b.checkOptions(f, options)
	if internal := in.HasGroup && in.Version == ""; internal || tagged || !f.Exported || f.Embedded {
		return
	}
	for _, other := range beside {
		if _, ok := reflect.StructTag(other.Tag).Lookup("json"); ok && !other.Embedded {
			b.warnings.Add(f.Pos, "field %s is called %q on the wire, since it has no tag: write `json:\"%s\"`", f.Name, f.JSON, wireName(f.Name))
			return
		}
	}
}

// checkOptions warns of options that encoding/json doesn't take as they are meant.
func (b *builder) checkOptions(f *model.Field, options string) {
	for _, o := range strings.Split(options, ",") {
		switch at := f.Type.Pointee(); {
		case o == "inline" && !f.Inline && !f.Ignored:
			b.warnings.Add(f.Pos, "the option \"inline\" in the tag of field %s means nothing: encoding/json puts only embedded structs without a name inline, and calls this %q", f.Name, f.JSON)
		case o == "string" && at != nil && at.Form == model.Basic && !f.Ignored:
			b.warnings.Add(f.Pos, "the option \"string\" in the tag of field %s makes its JSON a string, and the schema says %s: leave it out, or make the field a string", f.Name, describe(at))
		}
	}
}

var leadingWord = regexp.MustCompile(`^[A-Z]+([A-Z][a-z])|^[A-Z]+`)

// wireName is the name that a field customarily has on the wire: its first word is lower-case, as in dnsNames and url.
func wireName(field string) string {
	at := leadingWord.FindStringSubmatchIndex(field)
	if at == nil {
		return field
	}
	end := at[1]
	if at[2] >= 0 {
		end = at[2]
	}
	return strings.ToLower(field[:end]) + field[end:]
}

var jsonOptions = []string{"omitempty", "omitzero", "inline", "string"}

// isWritten tells the packages that files are written for.
func (b *builder) isWritten(p *types.Package) bool {
	return b.isRoot(p) && b.l.sources[p.Path()].output
}
