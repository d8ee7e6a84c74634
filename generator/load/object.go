package load

import (
	"go/types"
	"slices"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// checkObject reports a type that can't be what its markers say that it is: a runtime.Object, or another interface.
func (b *builder) checkObject(m *model.Type, n *types.Named) {
	if !b.isWritten(n.Obj().Pkg()) {
		return
	}
	for _, ref := range m.DeepCopyInterfaces {
		switch {
		case n.TypeParams().Len() > 0:
			b.errorf(ref.Pos, "%s has type parameters, so that it can't be %s by a method: leave the marker out, and mark a type over %s[...]", m.Name, ref.Name, m.Name)
		case !n.Obj().Exported():
			b.errorf(ref.Pos, "%s is not exported, so that nothing is generated for it: call it %s", m.Name, strings.ToUpper(m.Name[:1])+m.Name[1:])
		case slices.ContainsFunc(b.errs, func(e diag.Error) bool { return e.Pos == ref.Pos }):
			// it follows from what is told already
		case m.Form != model.Interface && !embedsUntold(m):
			b.checkImplements(m, n, ref)
		}
	}
}

// embedsUntold tells whether a struct embeds what doesn't compile, so that nobody can tell what it is.
func embedsUntold(m *model.Type) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool {
		return f.Embedded && f.Type.Form == model.Interface && f.Type.Name == ""
	})
}

// checkImplements reports methods of an interface that a type doesn't have; those that copy are generated.
func (b *builder) checkImplements(m *model.Type, n *types.Named, ref model.Ref) {
	p, err := b.l.load(ref.Path)
	if err != nil {
		return // told already
	}
	o, ok := p.Scope().Lookup(ref.Name).(*types.TypeName)
	if !ok {
		return
	}
	want, ok := o.Type().Underlying().(*types.Interface)
	if !ok || want.NumEmbeddeds() > 0 && want.NumMethods() == 0 {
		return
	}
	for i := range want.NumMethods() {
		f := want.Method(i)
		if strings.HasPrefix(f.Name(), "DeepCopy") {
			continue
		}
		if found, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, f.Pkg(), f.Name()); found != nil {
			if _, method := found.(*types.Func); method {
				continue
			}
		}
		advice := "write it"
		if f.Name() == "GetObjectKind" {
			advice = "embed metav1.TypeMeta `json:\",inline\"`"
		}
		b.errorf(ref.Pos, "%s is no %s.%s, since it has no method %s: %s", m.Name, p.Name(), ref.Name, f.Name(), advice)
	}
}

// checkTop reports fields of a kind that take the names which every object has on the wire, and TypeMeta and ObjectMeta under
// other names.
func (b *builder) checkTop(m *model.Type, n *types.Named) {
	if !b.isWritten(n.Obj().Pkg()) || m.Package.Version == "" {
		return
	}
	for _, f := range m.Fields {
		switch {
		case f.Embedded && f.Name == "TypeMeta" && !f.Inline:
			b.errorf(f.Pos, "the kind and apiVersion of an object stand at its top: write `json:\",inline\"` behind TypeMeta")
		case f.Embedded && f.Name == "ObjectMeta" && f.Tag == "":
			b.warnings.Add(f.Pos, "the metadata of an object is called \"metadata\", and here it has no name: write `json:\"metadata,omitempty\"` behind ObjectMeta")
		case f.Embedded && f.Name == "ObjectMeta" && (f.Inline || f.Ignored || f.JSON != "metadata"):
			b.errorf(f.Pos, "the metadata of an object is called \"metadata\": write `json:\"metadata,omitempty\"` behind ObjectMeta")
		case !f.Embedded && !f.Ignored && (f.JSON == "kind" || f.JSON == "apiVersion"):
			b.errorf(f.Pos, "field %s of %s is called %q on the wire, where every object has its own: choose another name", f.Name, m.Name, f.JSON)
		}
	}
}

// checkScheme reports an AddToScheme that registers nothing.
func (b *builder) checkScheme(m *model.Package, p *types.Package) {
	o := p.Scope().Lookup("AddToScheme")
	if o == nil || !b.isWritten(p) || len(kinds(m)) == 0 {
		return
	}
	sig, ok := o.Type().Underlying().(*types.Signature)
	if invalid(o.Type()) || ok && sig.Params().Len() == 1 && sig.Results().Len() == 1 && strings.HasSuffix(sig.Params().At(0).Type().String(), "runtime.Scheme") {
		return
	}
	b.errorf(b.position(o.Pos()), "AddToScheme is the name of what registers the types: make it a func(*runtime.Scheme) error, or give it another name")
}
