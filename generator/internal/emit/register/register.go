// Package register emits zz_generated.register.go: the group and version of a package, and AddToScheme for its kinds,
// under the names that clients of API packages use. It declares no name that the package declares by hand, and writes
// nothing for a package with a registration of its own: the plan says which. It knows the plan, the model, emit and
// gocode.
package register

import (
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/registration"
)

const localSchemeBuilder = registration.LocalSchemeBuilder

const runtimePath = "k8s.io/apimachinery/pkg/runtime"

// Emitter returns the emitter of registrations.
func Emitter() emit.Emitter {
	e := gocode.Emitter("register", "SchemeGroupVersion, AddToScheme and its companions for packages of kinds", write)
	e.Faults = emit.FaultsOf(func(p *plan.Plan, pkg *model.Package) diag.Errors {
		return p.OfPackage(pkg).Registration.Faults(pkg)
	})
	return e
}

func write(p *plan.Plan, pkg *model.Package) *gocode.File {
	r := p.OfPackage(pkg).Registration
	if !r.Generated {
		return nil
	}
	w := writer{file: gocode.New(p.Program, pkg, symbols...), pkg: pkg, plan: r}
	w.groupVersion()
	w.qualifiers()
	w.schemeBuilder()
	w.file.Add("", w.file.Code("func init() {\n$.Register($)\n}", localSchemeBuilder,
		strings.Join(r.Initial, ", ")))
	w.knownTypes()
	return w.file
}

var symbols = []string{
	"GroupName", "GroupVersion", "SchemeGroupVersion", "Kind", "Resource", "SchemeBuilder", localSchemeBuilder,
	"AddToScheme", "Install", "addKnownTypes", "RegisterDefaults", "RegisterConversions",
}

type writer struct {
	file *gocode.File
	pkg  *model.Package
	plan *registration.Registration
}

func (w writer) add(name, doc string, decl *jen.Statement) {
	if !w.pkg.Declares(name) {
		w.file.Add(doc, decl)
	}
}

func (w writer) internal() bool { return w.pkg.Version == "" }

func (w writer) groupVersion() {
	w.add("GroupName", "GroupName is the API group of this package.",
		w.file.Code("const GroupName = $", jen.Lit(w.pkg.Group)))
	version := jen.Lit(w.pkg.Version)
	doc := "SchemeGroupVersion is the group and version that the types of this package are registered with."
	if w.internal() {
		version = w.file.Qual(runtimePath, "APIVersionInternal")
		doc = "SchemeGroupVersion is the group and the internal version that the types of this package are " +
			"registered with."
	} else {
		w.add("GroupVersion", "GroupVersion is the group and version of this package.", w.file.Code(
			"var GroupVersion = metav1.GroupVersion{Group: GroupName, Version: $}", version))
	}
	w.add("SchemeGroupVersion", doc, w.file.Code(
		"var SchemeGroupVersion = schema.GroupVersion{Group: GroupName, Version: $}", version))
}

func (w writer) qualifiers() {
	w.add("Kind", "Kind takes an unqualified kind and returns it with the group.",
		w.file.Code(`func Kind(kind string) schema.GroupKind {
			return SchemeGroupVersion.WithKind(kind).GroupKind()
		}`))
	w.add("Resource", "Resource takes an unqualified resource and returns it with the group.",
		w.file.Code(`func Resource(resource string) schema.GroupResource {
			return SchemeGroupVersion.WithResource(resource).GroupResource()
		}`))
}

func (w writer) schemeBuilder() {
	var defs []jen.Code
	for _, def := range []struct{ name, doc, text string }{
		{"SchemeBuilder", "SchemeBuilder collects the functions that register the types of this package.",
			"SchemeBuilder runtime.SchemeBuilder"},
		{localSchemeBuilder, "", localSchemeBuilder + " = &SchemeBuilder"},
		{"AddToScheme",
			"AddToScheme adds the types of this package to a scheme, with their defaults and conversions.",
			"AddToScheme = " + localSchemeBuilder + ".AddToScheme"},
		{"Install", "Install is AddToScheme by another name.", "Install = " + localSchemeBuilder + ".AddToScheme"},
	} {
		if w.pkg.Declares(def.name) {
			continue
		}
		if def.doc != "" {
			defs = append(defs, jen.Comment(def.doc))
		}
		defs = append(defs, w.file.Code(def.text))
	}
	w.file.Add("", jen.Var().Defs(defs...))
}

func (w writer) knownTypes() {
	var types strings.Builder
	for _, t := range w.plan.Types {
		types.WriteString("&" + t.Name + "{},\n")
	}
	doc, common := "addKnownTypes registers the types of this package.", jen.Null()
	scheme := w.file.Qual(runtimePath, "Scheme")
	if !w.internal() {
		doc = "addKnownTypes registers the types of this package, and those that every version has: ListOptions and " +
			"the like."
		common = w.file.Code("metav1.AddToGroupVersion(scheme, SchemeGroupVersion)\n")
	}
	w.add("addKnownTypes", doc, w.file.Code(`func addKnownTypes(scheme *$) error {
		scheme.AddKnownTypes(SchemeGroupVersion,
			$)
		$return nil
	}`, scheme, types.String(), common))
}
