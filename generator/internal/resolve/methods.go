package resolve

import (
	"go/types"

	"apigen.dev/generator/internal/model"
)

func (b *typeBuilder) methods(m *model.Type, n *types.Named) {
	root := b.u.IsRoot(n.Obj().Pkg())
	for f := range n.Methods() {
		if m.Methods == nil {
			m.Methods = map[string]*model.Func{}
		}
		method := b.fn(f, root || signedMethods[f.Name()])
		if root {
			method.Doc = b.u.Comments(f.Pkg(), f.Pos()).Of(f.Pos(), n.Obj().Name()+"."+f.Name()+"()").Doc
		}
		m.Methods[f.Name()] = method
		if root && embeds(m, "TypeMeta") && f.Exported() && f.Signature().Params().Len() == 2 {
			b.payloadTypes(f)
		}
		if root && embeds(m, "TypeMeta") {
			b.contextualTypes(f)
		}
	}
}

// signedMethods are those of dependencies whose signatures matter: the methods by which a kind may bring its own
// protobuf, and those of the errors that a kind's Validate answers with.
var signedMethods = map[string]bool{"Size": true, "Marshal": true, "Unmarshal": true, "Error": true,
	"WrappedErrors": true}

// contextualTypes reads what a kind's methods in Knative's shapes take and answer: the errors of Validate, and the
// interface of versions that are converted.
func (b *typeBuilder) contextualTypes(f *types.Func) {
	sig := f.Signature()
	switch {
	case f.Name() == "Validate" && sig.Results().Len() == 1:
		b.typ(sig.Results().At(0).Type())
	case (f.Name() == "ConvertTo" || f.Name() == "ConvertFrom") && sig.Params().Len() == 2:
		b.typ(sig.Params().At(1).Type())
	}
}

// fn reads a function or a method, with its signature if asked for.
func (b *typeBuilder) fn(f *types.Func, signature bool) *model.Func {
	out := &model.Func{Name: f.Name(), Pos: b.u.Position(f.Pos())}
	if f.Pkg() != nil {
		out.Package = b.pkg(f.Pkg())
	}
	sig, ok := f.Type().(*types.Signature)
	if !ok {
		return out
	}
	if r := sig.Recv(); r != nil {
		_, out.PointerReceiver = types.Unalias(r.Type()).(*types.Pointer)
	}
	if signature {
		out.Variadic = sig.Variadic()
		out.Params, out.Results = b.signatureTypes(sig.Params()), b.signatureTypes(sig.Results())
	}
	return out
}

func (b *typeBuilder) signatureTypes(of *types.Tuple) []*model.Type {
	var out []*model.Type
	for v := range of.Variables() {
		out = append(out, b.signatureType(v.Type()))
	}
	return out
}

func existingCopy(n *types.Named) model.DeepCopyMode {
	mode := model.DeepCopyNone
	for f := range n.Methods() {
		switch {
		case !copies(f, n):
		case f.Name() == "DeepCopyInto":
			return model.DeepCopyExisting
		case f.Name() == "DeepCopy":
			mode = model.DeepCopyMethodOnly
		}
	}
	return mode
}

// copies reports whether a method has the name and the signature of one that copies the type.
func copies(f *types.Func, n *types.Named) bool {
	params, results := f.Signature().Params(), f.Signature().Results()
	if f.Name() == "DeepCopyInto" {
		return params.Len() == 1 && results.Len() == 0 && pointsTo(params.At(0).Type(), n)
	}
	if params.Len() != 0 || results.Len() != 1 {
		return false
	}
	r := results.At(0).Type()
	return f.Name() == "DeepCopyObject" || f.Name() == "DeepCopy" && (pointsTo(r, n) || same(r, n))
}

func pointsTo(t types.Type, n *types.Named) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && same(p.Elem(), n)
}

// same compares by declaration: the receiver of a generic type has type parameters of its own.
func same(t types.Type, n *types.Named) bool {
	m, ok := types.Unalias(t).(*types.Named)
	return ok && m.Obj() == n.Obj()
}

// checkCopies reports methods that have the name of one that is generated to copy the type, and another signature.
func (b *typeBuilder) checkCopies(m *model.Type, n *types.Named) {
	if m.DeepCopy != model.DeepCopyGenerate {
		return
	}
	name := m.Name
	signatures := map[string]string{
		"DeepCopyInto":   "func (in *" + name + ") DeepCopyInto(out *" + name + ")",
		"DeepCopy":       "func (in *" + name + ") DeepCopy() *" + name,
		"DeepCopyObject": "func (in *" + name + ") DeepCopyObject() runtime.Object",
	}
	for f := range n.Methods() {
		if want := signatures[f.Name()]; want != "" && !copies(f, n) {
			b.errorf(b.u.Position(f.Pos()), "%s.%s has another signature than the method that copies %s: write it "+
				"as %s, or give it another name", name, f.Name(), name, want)
		}
	}
}
