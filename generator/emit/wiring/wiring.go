// Package wiring emits the value that a server is made of: for each API group a package of its own, whose Group
// function lists kinds, versions, conversions, columns and the author's logic, so that one can read top to bottom what
// will be served. It prints code that uses the runtime, and knows the runtime by name alone.
package wiring

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit"
	"apigen.dev/generator/emit/gocode"
	"apigen.dev/generator/model"
	"apigen.dev/generator/plan"
)

// FileName is the base name of the file that the emitter writes into a group's wiring package.
const FileName = "zz_generated.wiring.go"

// The packages that wiring imports, by path.
const (
	apiPath         = "apigen.dev/runtime/api"
	celPath         = "apigen.dev/runtime/cel"
	registryPath    = "apigen.dev/runtime/registry"
	subresourcePath = "apigen.dev/runtime/subresource"
	codecPath       = "apigen.dev/runtime/codec"
	runtimePath     = "k8s.io/apimachinery/pkg/runtime"
	schemaPath      = "k8s.io/apimachinery/pkg/runtime/schema"
	conversionPath  = "k8s.io/apimachinery/pkg/conversion"
	operationPath   = "k8s.io/apimachinery/pkg/api/operation"
	metaPath        = "k8s.io/apimachinery/pkg/apis/meta/v1"
	fieldPath       = "k8s.io/apimachinery/pkg/util/validation/field"
)

// Emitter returns the emitter of wiring.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "wiring",
		Doc:      "the value that a server is made of: kinds, versions, conversions, columns and hooks of each group",
		Files:    []string{FileName},
		Emit:     Emit,
		Warnings: Warnings,
	}
}

// Emit returns one file for each group of p that has wiring.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var errs diag.Errors
	var files []emit.File
	homes := map[string]*model.Group{}
	for _, g := range p.WiredGroups() {
		if other := homes[g.Wiring.Dir]; other != nil {
			errs.Add(g.Versions[0].Package.Pos, "the groups %s and %s would both be wired in %s: put the packages of "+
				"each group into a folder of their own", other.Name, g.Name, g.Wiring.Path)
			continue
		}
		homes[g.Wiring.Dir] = g
		for _, r := range g.Resources {
			errs = append(errs, p.Serving[r].Faults...)
		}
		file, err := (&printer{plan: p, group: g, scoped: p.Scoped[g], errs: &errs}).print()
		if err != nil {
			return nil, fmt.Errorf("wiring of %s: %w", g.Name, err)
		}
		files = append(files, file)
	}
	if err := errs.Err(); err != nil {
		return nil, err
	}
	return files, nil
}

// printer prints the wiring of one group. Faults of the input go to errs; what is printed then is not used.
type printer struct {
	plan  *plan.Plan
	group *model.Group
	errs  *diag.Errors
	// unregistered are versions that the wiring registers itself.
	unregistered []*model.Version
	// scoped: hand-written conversions are called, which may ask for a conversion.Scope.
	scoped bool
	// textual: some cell needs jsonCell, some date is read from text.
	textual, dated bool
	// selecting: some scale has a LabelSelector.
	selecting bool
}

func (p *printer) print() (emit.File, error) {
	w := p.group.Wiring
	f := jen.NewFilePathName(w.Path, w.Name)
	f.HeaderComment(emit.Header(p.plan.Program))
	f.PackageComment(fmt.Sprintf("Package %s is %s as a server takes it: its kinds, versions, conversions, columns "+
		"and hooks.", w.Name, p.called()))
	p.imports(f)

	f.Comment("A compile error here means that this file and apigen.dev/runtime don't fit together: run " +
		"`go tool apigen build ./...`,")
	f.Comment("with the apigen of the version that go.mod names for apigen.dev.")
	f.Const().Id("_").Op("=").Qual(apiPath, "GeneratedCodeVersion1")
	p.groupFunc(f)
	p.addToScheme(f)
	for _, r := range plan.Provided(p.group) {
		p.provider(f, r)
	}
	for _, r := range p.group.Resources {
		if served := r.Served(); len(served) > 0 {
			p.define(f, r, served)
		}
	}
	p.helpers(f)

	return gocode.Render(f, emit.File{Package: w.Path, Dir: w.Dir, PackageName: w.Name, Name: FileName})
}

// called is the group in comments.
func (p *printer) called() string {
	if p.group.Name == "" {
		return "the core API group"
	}
	return "the API group " + p.group.Name
}

// imports tells jennifer the names of packages, so that it writes no alias but where two would collide.
func (p *printer) imports(f *jen.File) {
	for _, path := range []string{apiPath, celPath, codecPath, registryPath, subresourcePath, runtimePath,
		conversionPath, operationPath, schemaPath, fieldPath} {
		f.ImportName(path, path[1+strings.LastIndexByte(path, '/'):])
	}
	packages := []*model.Package{}
	if p.group.Internal != nil {
		packages = append(packages, p.group.Internal)
	}
	for _, v := range p.group.Versions {
		packages = append(packages, v.Package, p.plan.Home(v.Package))
	}
	for _, pkg := range packages {
		if pkg.ServedBy != nil {
			f.ImportAlias(pkg.Path, p.alias(pkg))
			continue
		}
		if slices.Contains(locals, pkg.Name) {
			f.ImportAlias(pkg.Path, pkg.Name+"group")
			continue
		}
		f.ImportName(pkg.Path, pkg.Name)
	}
	for _, pkg := range p.payloadPackages() {
		if !slices.ContainsFunc(packages, func(known *model.Package) bool { return known.Path == pkg.Path }) {
			f.ImportAlias(pkg.Path, importAlias(pkg.Path))
		}
	}
	f.ImportAlias(metaPath, "metav1")
}

// importAlias names a package after its last two folders: policyv1.
func importAlias(importPath string) string {
	name := path.Base(path.Dir(importPath)) + path.Base(importPath)
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// locals are the names of variables and functions of the file, which no import may be called by.
var locals = []string{
	"add", "ctx", "data", "date", "dateCell", "err", "errs", "from", "generated", "groupScope", "hub", "i", "in",
	"item", "jsonCell", "name", "newScope", "obj", "ok", "old", "op", "openAPI", "options", "out", "query",
	"replicas", "result", "selector", "selectorText", "s", "scheme", "scope", "stored", "swagger", "text", "to",
	"value",
}

// groupFunc prints Group.
func (p *printer) groupFunc(f *jen.File) {
	var versions []jen.Code
	var resources []jen.Code
	for _, v := range p.group.ServedVersions() {
		versions = append(versions, jen.Lit(v.Name))
	}
	for _, r := range p.group.Resources {
		if len(r.Served()) == 0 {
			continue
		}
		call := jen.Id("define" + r.Kind).Call()
		if p.scoped {
			call = jen.Id("define" + r.Kind).Call(jen.Id("scope"))
		}
		if r.WithoutStorage() {
			resources = append(resources, p.withoutStorage(r, call))
		} else {
			resources = append(resources, jen.Qual(registryPath, "New").Call(call))
		}
	}
	f.Commentf("Group is %s.", p.called())
	f.Func().Id("Group").Params(p.providers()...).Qual(registryPath, "Group").BlockFunc(func(g *jen.Group) {
		if p.scoped {
			g.Id("scope").Op(":=").Id("newScope").Call()
		}
		g.Return(literal(jen.Qual(registryPath, "Group"),
			member("Name", jen.Lit(p.group.Name)),
			member("Versions", jen.Index().String().Values(versions...)),
			member("Resources", jen.Index().Qual(registryPath, "Resource").Custom(braces, resources...)),
			member("AddToScheme", jen.Id("AddToScheme")),
			member("OpenAPI", jen.Id(plan.OpenAPIFunc).Call()),
			member("Swagger", jen.Id(plan.SwaggerFunc).Call()),
		))
	})
}

// addToScheme prints AddToScheme, which registers the hub package and every served version.
func (p *printer) addToScheme(f *jen.File) {
	var adders []jen.Code
	seen := map[string]bool{}
	if p.group.Internal != nil {
		seen[p.group.Internal.Path] = true
		adders = append(adders, jen.Qual(p.group.Internal.Path, p.plan.SchemeFunction(p.group.Internal, p.errs)))
	}
	for _, v := range p.group.Versions {
		if home := p.plan.Home(v.Package); !seen[home.Path] {
			seen[home.Path] = true
			adders = append(adders, p.adders(v)...)
		}
	}
	f.Comment("AddToScheme registers the Go types of the group, with their defaults and conversions, and the " +
		"priority of its versions.")
	f.Func().Id("AddToScheme").Params(jen.Id("scheme").Op("*").Qual(runtimePath, "Scheme")).Error().Block(
		addAll(adders),
		jen.Return(jen.Id("scheme").Dot("SetVersionPriority").Custom(arguments, p.priority()...)),
	)
	for _, v := range p.unregistered {
		p.adder(f, v)
	}
}

// addAll prints the calls of the functions that register types: a loop, where there is more than one.
func addAll(adders []jen.Code) jen.Code {
	call := func(add jen.Code) jen.Code {
		return jen.If(jen.Err().Op(":=").Add(add).Call(jen.Id("scheme")), jen.Err().Op("!=").Nil()).
			Block(jen.Return(jen.Err()))
	}
	if len(adders) == 1 {
		return call(adders[0])
	}
	typ := jen.Index().Func().Params(jen.Op("*").Qual(runtimePath, "Scheme")).Error()
	return jen.For(jen.List(jen.Id("_"), jen.Id("add")).Op(":=").Range().Add(typ).Values(adders...)).
		Block(call(jen.Id("add")))
}

// priority lists the served versions, the preferred one first.
func (p *printer) priority() []jen.Code {
	var versions []jen.Code
	for _, v := range p.group.ServedVersions() {
		versions = append(versions, jen.Qual(schemaPath, "GroupVersion").Values(
			jen.Id("Group").Op(":").Lit(p.group.Name), jen.Id("Version").Op(":").Lit(v.Name)))
	}
	return versions
}

// arguments lays the arguments of a call out one a line.
var arguments = jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}

// braces lays a composite literal out one element a line.
var braces = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}

func literal(typ jen.Code, members ...jen.Code) *jen.Statement {
	kept := members[:0]
	for _, m := range members {
		if m != nil {
			kept = append(kept, m)
		}
	}
	return jen.Add(typ).Custom(braces, kept...)
}

func member(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }
