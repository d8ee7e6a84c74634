package conformance

import (
	"go/types"
	"reflect"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// loadTypes loads packages, compiled, as a module sees them.
func loadTypes(t *testing.T, dir string, paths []string) map[string]*types.Package {
	t.Helper()
	cfg := &packages.Config{
		Context: t.Context(), Dir: dir, Env: environment(dir),
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedExportFile | packages.NeedImports |
			packages.NeedDeps,
	}
	pkgs, err := packages.Load(cfg, paths...)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*types.Package{}
	for _, p := range pkgs {
		for _, e := range p.Errors {
			t.Errorf("%s: %v", p.PkgPath, e)
		}
		out[p.PkgPath] = p.Types
	}
	return out
}

// exportedAPI returns everything that users of a package can name, with its declaration: functions, variables, types,
// and their fields and methods. The names of parameters are not part of it.
func exportedAPI(p *types.Package, names *strings.Replacer) map[string]string {
	out := map[string]string{}
	text := func(t types.Type) string {
		return strings.ReplaceAll(
			names.Replace(types.TypeString(nameless(t), func(p *types.Package) string { return p.Path() })),
			"interface{}", "any")
	}
	for _, name := range p.Scope().Names() {
		obj := p.Scope().Lookup(name)
		if !obj.Exported() {
			continue
		}
		switch obj := obj.(type) {
		case *types.TypeName:
			typeAPI(out, obj, text)
		default:
			out[name] = reflect.TypeOf(obj).Elem().Name() + " " + text(obj.Type())
		}
	}
	return out
}

func typeAPI(out map[string]string, obj *types.TypeName, text func(types.Type) string) {
	name := obj.Name()
	if obj.IsAlias() {
		out[name] = "alias of " + text(types.Unalias(obj.Type()))
		return
	}
	switch u := obj.Type().Underlying().(type) {
	case *types.Struct:
		out[name] = "struct"
		for i := range u.NumFields() {
			f := u.Field(i)
			if f.Exported() {
				out[name+"."+f.Name()] = text(f.Type()) + " " +
					strings.TrimSuffix(reflect.StructTag(u.Tag(i)).Get("json"), ",inline")
			}
		}
	case *types.Interface:
		out[name] = "interface"
	default:
		out[name] = text(u)
	}
	receiver := obj.Type()
	if !types.IsInterface(receiver) {
		receiver = types.NewPointer(receiver)
	}
	methods := types.NewMethodSet(receiver)
	for i := range methods.Len() {
		m := methods.At(i)
		if m.Obj().Exported() {
			out[name+"."+m.Obj().Name()+"()"] = text(m.Type())
		}
	}
}

// nameless is a signature without the names of its parameters.
func nameless(t types.Type) types.Type {
	sig, ok := t.(*types.Signature)
	if !ok {
		return t
	}
	strip := func(tuple *types.Tuple) *types.Tuple {
		var vars []*types.Var
		for i := range tuple.Len() {
			vars = append(vars, types.NewParam(0, nil, "", nameless(tuple.At(i).Type())))
		}
		return types.NewTuple(vars...)
	}
	return types.NewSignatureType(nil, nil, nil, strip(sig.Params()), strip(sig.Results()), sig.Variadic())
}
