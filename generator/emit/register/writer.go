package register

import (
	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// symbols are what the file declares, where the package doesn't.
var symbols = []string{
	"GroupName", "GroupVersion", "SchemeGroupVersion", "Kind", "Resource", "SchemeBuilder", plan.LocalSchemeBuilder,
	"AddToScheme", "Install", "addKnownTypes", "RegisterDefaults", "RegisterConversions",
}

// writer writes the file of one package.
type writer struct {
	file *gocode.File
	pkg  *model.Package
	plan *plan.Registration
}

// add declares a name, unless the package does so by hand.
func (w writer) add(name, doc string, decl *jen.Statement) {
	if !declared(w.pkg, name) {
		w.file.Add(doc, decl)
	}
}

func (w writer) internal() bool { return w.pkg.Version == "" }

func (w writer) groupVersion() {
	w.add("GroupName", "GroupName is the API group of this package.",
		jen.Const().Id("GroupName").Op("=").Lit(w.pkg.Group))
	version := jen.Lit(w.pkg.Version)
	doc := "SchemeGroupVersion is the group and version that the types of this package are registered with."
	if w.internal() {
		version = w.file.Qual(runtimePath, "APIVersionInternal")
		doc = "SchemeGroupVersion is the group and the internal version that the types of this package are " +
			"registered with."
	}
	value := func(path string) *jen.Statement {
		return w.file.Qual(path, "GroupVersion").Values(
			jen.Id("Group").Op(":").Id("GroupName"), jen.Id("Version").Op(":").Add(version))
	}
	if !w.internal() {
		w.add("GroupVersion", "GroupVersion is the group and version of this package.",
			jen.Var().Id("GroupVersion").Op("=").Add(value(metaPath)))
	}
	w.add("SchemeGroupVersion", doc, jen.Var().Id("SchemeGroupVersion").Op("=").Add(value(schemaPath)))
}

func (w writer) qualifiers() {
	w.add("Kind", "Kind takes an unqualified kind and returns it with the group.",
		jen.Func().Id("Kind").Params(jen.Id("kind").String()).Add(w.file.Qual(schemaPath, "GroupKind")).Block(
			jen.Return(jen.Id("SchemeGroupVersion").Dot("WithKind").Call(jen.Id("kind")).Dot("GroupKind").Call())))
	w.add("Resource", "Resource takes an unqualified resource and returns it with the group.",
		jen.Func().Id("Resource").Params(jen.Id("resource").String()).Add(w.file.Qual(schemaPath, "GroupResource")).
			Block(
				jen.Return(jen.Id("SchemeGroupVersion").Dot("WithResource").Call(jen.Id("resource")).
					Dot("GroupResource").
					Call())))
}

// schemeBuilder declares the builder and what is built with it.
func (w writer) schemeBuilder() {
	var defs []jen.Code
	add := func(name, doc string, def *jen.Statement) {
		if declared(w.pkg, name) {
			return
		}
		if doc != "" {
			defs = append(defs, jen.Comment(doc))
		}
		defs = append(defs, def)
	}
	builder := jen.Id(plan.LocalSchemeBuilder)
	add("SchemeBuilder", "SchemeBuilder collects the functions that register the types of this package.",
		jen.Id("SchemeBuilder").Add(w.file.Qual(runtimePath, "SchemeBuilder")))
	add(plan.LocalSchemeBuilder, "", jen.Id(plan.LocalSchemeBuilder).Op("=").Op("&").Id("SchemeBuilder"))
	add("AddToScheme", "AddToScheme adds the types of this package to a scheme, with their defaults and conversions.",
		jen.Id("AddToScheme").Op("=").Add(builder).Dot("AddToScheme"))
	add("Install", "Install is AddToScheme by another name.", jen.Id("Install").Op("=").Add(builder).Dot("AddToScheme"))
	w.file.Add("", jen.Var().Defs(defs...))
}

func (w writer) init(functions []string) {
	args := make([]jen.Code, len(functions))
	for i, name := range functions {
		args[i] = jen.Id(name)
	}
	w.file.Add("", jen.Func().Id("init").Params().Block(jen.Id(plan.LocalSchemeBuilder).Dot("Register").Call(args...)))
}

func (w writer) knownTypes() {
	args := []jen.Code{jen.Id("SchemeGroupVersion")}
	for _, t := range w.plan.Types {
		args = append(args, jen.Line().Op("&").Id(t.Name).Values())
	}
	args = append(args, jen.Line())
	body := []jen.Code{jen.Id("scheme").Dot("AddKnownTypes").Call(args...)}
	doc := "addKnownTypes registers the types of this package."
	if !w.internal() {
		doc = "addKnownTypes registers the types of this package, and those that every version has: ListOptions and " +
			"the like."
		body = append(body, w.file.Qual(metaPath, "AddToGroupVersion").Call(jen.Id("scheme"),
			jen.Id("SchemeGroupVersion")))
	}
	body = append(body, jen.Return(jen.Nil()))
	w.add("addKnownTypes", doc, jen.Func().Id("addKnownTypes").
		Params(jen.Id("scheme").Op("*").Add(w.file.Qual(runtimePath, "Scheme"))).Error().Block(body...))
}
