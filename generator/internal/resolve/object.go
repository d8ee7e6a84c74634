package resolve

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
)

// checkObject reports a type that can't be what its markers say that it is: a runtime.Object, or another interface.
func (b *typeBuilder) checkObject(m *model.Type, n *types.Named) {
	if !b.u.IsWritten(n.Obj().Pkg()) {
		return
	}
	for _, ref := range m.DeepCopyInterfaces {
		switch {
		case n.TypeParams().Len() > 0:
			b.errorf(ref.Pos, "%s has type parameters, so that it can't be %s by a method: leave the marker out, "+
				"and mark a type over %s[...]", m.Name, ref.Name, m.Name)
		case !n.Obj().Exported():
			b.errorf(ref.Pos, "%s is not exported, so that nothing is generated for it: call it %s", m.Name,
				strings.ToUpper(m.Name[:1])+m.Name[1:])
		case slices.ContainsFunc(b.errs, func(e diag.Error) bool { return e.Pos == ref.Pos }):
			// the interface is at fault, and that is reported
		case m.Form != model.Interface && !embedsInvalid(m):
			b.checkImplements(m, n, ref)
		}
	}
}

// embedsInvalid reports whether a struct embeds something that doesn't compile, so that it may be anything.
func embedsInvalid(m *model.Type) bool {
	return slices.ContainsFunc(m.Fields, func(f *model.Field) bool {
		return f.Embedded && f.Type.Form == model.Interface && f.Type.Name == ""
	})
}

// checkImplements reports methods of an interface that a type doesn't have; those that copy are generated.
func (b *typeBuilder) checkImplements(m *model.Type, n *types.Named, ref model.Ref) {
	o, err := b.interfaceNamed(m.Package, ref)
	if err != nil {
		return // typeMarkers reports it
	}
	want, ok := o.Type().Underlying().(*types.Interface)
	if !ok || want.NumEmbeddeds() > 0 && want.NumMethods() == 0 {
		return
	}
	for f := range want.Methods() {
		if strings.HasPrefix(f.Name(), "DeepCopy") {
			continue
		}
		found, _, _ := types.LookupFieldOrMethod(types.NewPointer(n), true, f.Pkg(), f.Name())
		if _, method := found.(*types.Func); method {
			continue
		}
		advice := "write it"
		if f.Name() == "GetObjectKind" {
			advice = "embed metav1.TypeMeta `json:\",inline\"`"
		}
		b.errorf(ref.Pos, "%s is no %s.%s, since it has no method %s: %s", m.Name, o.Pkg().Name(), ref.Name, f.Name(),
			advice)
	}
}

// checkGroup warns of a constant or variable that names another group than the marker: the types would be registered
// with one, and served in the other. What a package of another module says is decided where it is served.
func (b *typeBuilder) checkGroup(m *model.Package, p *types.Package) {
	if !b.u.IsRoot(p) || !m.HasGroup || len(kinds(m)) == 0 {
		return
	}
	check := func(what, group string, at token.Pos) {
		if group != m.Group {
			b.warnf(b.u.Position(at), "the %s is %q, and the marker +groupName of package %s says %q, which is the "+
				"group that is served: make them the same", what, group, p.Path(), m.Group)
		}
	}
	name, ok := b.groupConstant(p.Path())
	if ok {
		check("constant GroupName", name, p.Scope().Lookup("GroupName").Pos())
	}
	for _, v := range b.u.GroupVariables(p) {
		if !ok || v.Group != name { // the constant has the fault already
			check("group of the variable "+v.Name, v.Group, v.Pos)
		}
	}
}

// checkScheme reports an AddToScheme that registers nothing.
func (b *typeBuilder) checkScheme(m *model.Package, p *types.Package) {
	o := p.Scope().Lookup("AddToScheme")
	if o == nil || !b.u.IsWritten(p) || len(kinds(m)) == 0 {
		return
	}
	sig, ok := o.Type().Underlying().(*types.Signature)
	if invalid(o.Type()) || ok && sig.Params().Len() == 1 && sig.Results().Len() == 1 &&
		strings.HasSuffix(sig.Params().At(0).Type().String(), "runtime.Scheme") {
		return
	}
	b.errorf(b.u.Position(o.Pos()), "AddToScheme is the name of the function that registers the types: make it a "+
		"func(*runtime.Scheme) error, or give it another name")
}
