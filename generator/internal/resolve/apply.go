package resolve

import (
	"cmp"
	"fmt"
	"go/types"

	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/marker"
	"apigen.dev/generator/internal/model"
)

const (
	metaPath    = "k8s.io/apimachinery/pkg/apis/meta/v1"
	runtimePath = "k8s.io/apimachinery/pkg/runtime"
)

func (b *typeBuilder) typeMarkers(m *model.Type, n *types.Named, c *load.Comments, ms marker.Markers) {
	obj := n.Obj()
	b.marked(m.Package, ms.ToType(m))
	b.checkInterfaces(m, n)
	m.DeepCopy = b.deepCopy(n, m)
	b.checkCopies(m, n)
	b.readConstant(m.Default)
	m.SchemaType = c.Of(0, obj.Name()+".OpenAPISchemaType()").Literal
	m.SchemaFormat = c.Of(0, obj.Name()+".OpenAPISchemaFormat()").Literal
	if m.Enum && !b.u.IsRoot(obj.Pkg()) {
		b.enumConstants(obj)
	}
	b.kind(m, ms)
}

// checkInterfaces reports interfaces of markers of which there are none. No copy is generated for an interface, nor
// for a dependency: there, the marker asks for nothing.
func (b *typeBuilder) checkInterfaces(m *model.Type, n *types.Named) {
	if types.IsInterface(n) || !b.u.IsRoot(n.Obj().Pkg()) {
		return
	}
	for _, r := range m.DeepCopyInterfaces {
		if _, err := b.interfaceNamed(m.Package, r); err != nil {
			b.errorf(r.Pos, "%v", err)
		}
	}
}

func (b *typeBuilder) fieldMarkers(f *model.Field, v *types.Var, said *load.Comment) {
	p := b.pkg(v.Pkg())
	ofAliases, doc := b.aliases(v.Type())
	f.Doc = cmp.Or(said.Doc, doc)
	if said.Pos.IsValid() {
		f.Pos = said.Pos
	}
	if f.Inline {
		b.lostAliases(v.Type(), "an embedded struct")
		ofAliases = nil
	}
	b.marked(p, append(ofAliases, said.Markers...).ToField(f, p))
	b.readConstant(f.Default)
	if !f.Schema.Optional && !f.Schema.Required {
		f.Schema.Optional, f.Schema.Required = p.OptionalFields, p.RequiredFields
	}
}

// fieldDefaults gives a dependency what its markers say of all fields: those of its files are read one by one.
func (b *typeBuilder) fieldDefaults(p *model.Package, c *load.Comments) {
	if n := len(c.Package.Markers); n > b.markers[p] {
		b.markers[p] = n
		var whole model.Package
		_ = c.Package.Markers.ToPackage(&whole) // nobody here can mend the markers of a dependency
		p.OptionalFields, p.RequiredFields = whole.OptionalFields, whole.RequiredFields
	}
}

// deepCopy decides how a type is copied: for roots by markers and hand-written methods, else by its methods. A type
// that is asked for and has only one of the two methods by hand is generated: the other is missing.
func (b *typeBuilder) deepCopy(n *types.Named, t *model.Type) model.DeepCopyMode {
	mode := existingCopy(n)
	p := n.Obj().Pkg()
	if !b.u.IsRoot(p) || mode == model.DeepCopyExisting && t.Methods["DeepCopy"] != nil || n.TypeParams().Len() > 0 {
		return mode
	}
	wanted, explicit := b.pkg(p).DeepCopy || len(t.DeepCopyInterfaces) > 0, false
	if t.CopyMarker != nil {
		wanted, explicit = *t.CopyMarker, true
	}
	if !wanted || !n.Obj().Exported() && !explicit {
		return mode
	}
	if mode != model.DeepCopyNone {
		return model.DeepCopyGenerate
	}
	switch n.Underlying().(type) {
	case *types.Struct, *types.Map, *types.Slice, *types.Array:
		return model.DeepCopyGenerate
	}
	return mode
}

func (b *typeBuilder) interfaceNamed(in *model.Package, r model.Ref) (*types.TypeName, error) {
	written := r.Path + "." + r.Name
	if r.Path == in.Path {
		written = r.Name
	}
	o, err := lookup[*types.TypeName](b.u, r.Path, r.Name)
	switch {
	case err != nil:
		return nil, fmt.Errorf("package of interface %s can't be loaded: %w", written, err)
	case o == nil:
		return nil, fmt.Errorf("there is no interface %s", written)
	case !types.IsInterface(o.Type()):
		return nil, fmt.Errorf("%s is no interface", written)
	}
	return o, nil
}
