package wiring

import (
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/conversion"
	"apigen.dev/generator/emit/defaults"
	"apigen.dev/generator/model"
	"github.com/dave/jennifer/jen"
)

// Kinds of another module have no methods of the user's. What would be one is a function in the package that serves them,
// with the object as a parameter: PrepareForCreate_Deployment(ctx, obj). Its signature is that of the Strategy's field.

// functionName is the function that stands for the method. Validate_X is the name under which the rules of markers are
// checked, so that what the user adds to those is called otherwise.
func (c convention) functionName(kind string) string {
	if c.name == "Validate" {
		return "ValidateObject_" + kind
	}
	return c.name + "_" + kind
}

// functionShapes are the function's parameters: those of the method, with the object behind the context.
func (c convention) functionShapes() []shape {
	switch {
	case c.name == "ValidateName":
		return c.params
	case len(c.params) == 0:
		return []shape{hubShape}
	}
	return append([]shape{c.params[0], hubShape}, c.params[1:]...)
}

// functionSignature is what the user has to write behind the name.
func (c convention) functionSignature(hub *model.Type) string {
	signature := c.signature
	switch {
	case c.name == "ValidateName":
	case len(c.params) == 2:
		signature = strings.Replace(signature, "old *T", "obj, old *T", 1)
	case len(c.params) == 1:
		signature = strings.Replace(signature, "ctx context.Context", "ctx context.Context, obj *T", 1)
	default:
		signature = "(obj *T)"
	}
	return strings.ReplaceAll(signature, "*T", "*"+typeText(hub))
}

func (c convention) fitsFunction(f *model.Func, hub *model.Type) bool {
	return !f.Variadic && sameShapes(f.Params, c.functionShapes(), hub) && sameShapes(f.Results, c.results, hub)
}

// function is the function that stands for the method, or nil where there is none.
func (c convention) function(hub *model.Type) *model.Func {
	home := hub.Package.ServedBy
	if home == nil {
		return nil
	}
	if f := home.Func(c.functionName(hub.Name)); f != nil && c.fitsFunction(f, hub) {
		return f
	}
	return nil
}

// wireFunction is a reference to that function, or nil.
func (c convention) wireFunction(hub *model.Type) jen.Code {
	if f := c.function(hub); f != nil {
		return jen.Qual(hub.Package.ServedBy.Path, f.Name)
	}
	return nil
}

// warnForeign names what to write in place of a method of a kind of another module that the server can't call, unless it is there.
func (c convention) warnForeign(out *emit.Errors, m *model.Func, hub *model.Type) {
	if c.wireFunction(hub) == nil {
		out.Add(m.Pos, "method %s of %s is not called by the server: write `func %s%s` in package %s", m.Name, hub.Name,
			c.functionName(hub.Name), c.functionSignature(hub), hub.Package.ServedBy.Path)
	}
}

// warnFunctions names the functions that look as if the server called them and that it doesn't call.
func warnFunctions(out *emit.Errors, r *model.Resource) {
	home := r.Hub.Package.ServedBy
	if home == nil {
		return
	}
	for _, c := range conventions() {
		name := c.functionName(r.Kind)
		if f := home.Func(name); f != nil && !c.fitsFunction(f, r.Hub) {
			out.Add(f.Pos, "function %s is not called by the server: its signature is not `func %s%s`", name, name, c.functionSignature(r.Hub))
		}
	}
}

// warnFunctionsElsewhere finds functions for a version of another module that is not the hub, where nobody calls them.
func warnFunctionsElsewhere(out *emit.Errors, r *model.Resource, t *model.Type) {
	home := t.Package.ServedBy
	if home == nil || t == r.Hub {
		return
	}
	for _, c := range conventions() {
		if f := home.Func(c.functionName(t.Name)); f != nil && c.fitsFunction(f, t) {
			out.Add(f.Pos, "function %s is not called by the server: logic works on the hub, so write it for %s.%s", f.Name, r.Hub.Package.Path, r.Hub.Name)
		}
	}
}

// columnFunction is the function of the user's that makes a column of a kind of another module, in place of a method: one
// named after both, with the object as its parameter. Nil where there is none.
func columnFunction(t *model.Type, c model.Column) *model.Func {
	if t.Package.ServedBy == nil || c.Method == "" {
		return nil
	}
	f := t.Package.ServedBy.Func(c.Method + "_" + t.Name)
	if f == nil || f.Variadic || len(f.Params) != 1 || !hubShape(f.Params[0], t) || len(f.Results) != 1 {
		return nil
	}
	return f
}

// adders are the functions that register what a version has: the AddToScheme or Install of its home; or, where it is of another
// module, that module's own, or one in the wiring where it has none, and what was generated here.
func (p *printer) adders(v *model.Version) []jen.Code {
	from, home := v.Package, p.home(v.Package)
	if from.ServedBy == nil {
		return []jen.Code{jen.Qual(home.Path, emit.SchemeFunction(home, p.errs))}
	}
	var out []jen.Code
	if name := from.Registration().Function; name != "" {
		out = append(out, jen.Qual(from.Path, name))
	} else {
		p.unregistered = append(p.unregistered, v)
		out = append(out, jen.Id(adderName(v)))
	}
	if home.Func("RegisterDefaults") != nil || home.Defaulter || len(defaults.Objects(p.program, home)) > 0 {
		out = append(out, jen.Qual(home.Path, "RegisterDefaults"))
	}
	if conversion.Registers(p.program, home) {
		out = append(out, jen.Qual(home.Path, "RegisterConversions"))
	}
	return out
}

func adderName(v *model.Version) string { return "add" + upperFirst(v.Name) }

// adder prints the function that registers the kinds of a version whose package registers them nowhere that others can reach.
func (p *printer) adder(f *jen.File, v *model.Version) {
	args := []jen.Code{jen.Id("version")}
	add := func(t *model.Type) { args = append(args, jen.Op("&").Qual(t.Package.Path, t.Name).Values()) }
	for _, t := range v.Kinds {
		add(t)
		if list := t.Kind.ListType; list != nil && list.Methods["DeepCopyObject"] != nil {
			add(list)
		}
	}
	name := adderName(v)
	f.Commentf("%s registers the kinds of %s, which has no AddToScheme.", name, v.Package.Path)
	f.Func().Id(name).Params(jen.Id("scheme").Op("*").Qual(runtimePath, "Scheme")).Error().Block(
		jen.Id("version").Op(":=").Qual(schemaPath, "GroupVersion").Values(
			jen.Id("Group").Op(":").Lit(p.group.Name), jen.Id("Version").Op(":").Lit(v.Name)),
		jen.Id("scheme").Dot("AddKnownTypes").Custom(arguments, args...),
		jen.Qual(metaPath, "AddToGroupVersion").Call(jen.Id("scheme"), jen.Id("version")),
		jen.Return(jen.Nil()),
	)
}

// alias is the name under which a version of another module is imported: appsv1.
func (p *printer) alias(pkg *model.Package) string {
	return strings.ToLower(p.group.GoName) + pkg.Version
}
