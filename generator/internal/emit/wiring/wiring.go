// Package wiring emits, for each API group, a package whose function Group returns all that a server needs: kinds,
// versions, conversions, columns and the author's logic, in one value that a person can read from top to bottom. The
// printed code uses the runtime; the package itself knows emit, gocode, model and the plan, and the runtime by name.
package wiring

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dave/jennifer/jen"

	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/gocode"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/plan/contextual"
	"apigen.dev/generator/internal/spelling"
)

// FileName is the base name of the file that the emitter writes into a group's wiring package.
const FileName = "zz_generated.wiring.go"

// Emitter returns the emitter of wiring.
func Emitter() emit.Emitter {
	return emit.Emitter{
		Name:     "wiring",
		Doc:      "the value that a server is made of: kinds, versions, conversions, columns and hooks of each group",
		Files:    []string{FileName},
		Faults:   (*plan.Plan).WiringFaults,
		Emit:     Emit,
		Warnings: Warnings,
	}
}

// Emit returns one file for each group of p that has wiring.
func Emit(p *plan.Plan) ([]emit.File, error) {
	var files []emit.File
	for _, g := range p.WiredGroups() {
		file, err := (&printer{plan: p, group: g, scoped: p.Scoped[g], sent: newSentRules()}).print()
		if err != nil {
			return nil, fmt.Errorf("wiring of %s: %w", g.Name, err)
		}
		files = append(files, file)
	}
	return files, nil
}

// printer prints the wiring of one group.
type printer struct {
	sent  *sentRules
	plan  *plan.Plan
	group *model.Group
	// unregistered are packages of versions that the wiring registers itself.
	unregistered []versionPackage
	// scoped: hand-written conversions are called, which may ask for a conversion.Scope.
	scoped bool
	// textual: some cell needs jsonCell, some date is read from text.
	textual, dated bool
	// read are the errors that Validate methods answer with in shapes of their own.
	read []*contextual.Errors
	// selecting: some scale has a LabelSelector.
	selecting bool
}

func (p *printer) print() (emit.File, error) {
	file := gocode.NewWiring(p.plan.Program, p.group)
	f := file.File
	f.PackageComment(fmt.Sprintf("Package %s is %s as a server takes it: its kinds, versions, conversions, columns "+
		"and hooks.", p.group.Wiring.Name, p.called()))
	p.imports(f)

	f.Comment("A compile error here means that this file and apigen.dev/runtime don't fit together: run " +
		"`go tool apigen build ./...`,")
	f.Comment("with the apigen of the version that go.mod names for apigen.dev.")
	f.Add(gocode.Code("const _ = api.GeneratedCodeVersion1"))
	p.groupFunc(f)
	p.addToScheme(f)
	for _, r := range plan.WithoutStorage(p.group) {
		p.provider(f, r)
	}
	for _, r := range p.group.Resources {
		if served := r.Served(); len(served) > 0 {
			p.define(f, r, served)
		}
	}
	for _, code := range p.sent.code {
		f.Add(code)
	}
	p.helpers(f)

	return file.Render(FileName)
}

func (p *printer) called() string {
	if p.group.Name == "" {
		return "the core API group"
	}
	return "the API group " + p.group.Name
}

// imports tells jennifer the names of the group's packages, so that it writes no alias but where two would collide.
func (p *printer) imports(f *jen.File) {
	var own []*model.Package
	if p.group.Internal != nil {
		own = append(own, p.group.Internal)
	}
	for _, pkg := range p.group.Packages() {
		own = append(own, pkg, p.plan.Home(pkg))
	}
	for _, pkg := range own {
		switch {
		case p.oneOfSeveral(pkg):
			f.ImportAlias(pkg.Path, importAlias(pkg.Path))
		case p.oneOfSeveral(pkg.Source()):
			f.ImportAlias(pkg.Path, logicAlias(pkg.Path))
		case pkg.ServedBy != nil:
			f.ImportAlias(pkg.Path, p.alias(pkg))
		case slices.Contains(locals, pkg.Name):
			f.ImportAlias(pkg.Path, pkg.Name+"group")
		default:
			f.ImportName(pkg.Path, pkg.Name)
		}
	}
	for _, r := range p.group.Resources {
		pkg := r.Hub.Package
		if r.SameAs == nil || slices.Contains(own, pkg) {
			continue
		}
		f.ImportAlias(pkg.Path, importAlias(pkg.Path))
		if home := p.plan.Home(pkg); home != pkg {
			f.ImportAlias(home.Path, logicAlias(home.Path))
		}
	}
	for _, pkg := range p.payloadPackages() {
		if !slices.ContainsFunc(own, func(known *model.Package) bool { return known.Path == pkg.Path }) {
			f.ImportAlias(pkg.Path, importAlias(pkg.Path))
		}
	}
}

// oneOfSeveral reports whether a version of the group is this package and others, which are called alike.
func (p *printer) oneOfSeveral(pkg *model.Package) bool {
	return slices.ContainsFunc(p.group.Versions, func(v *model.Version) bool {
		return len(v.Packages) > 1 && slices.Contains(v.Packages, pkg)
	})
}

// logicAlias names a package beside types of another module after the folder above it: policylogic.
func logicAlias(importPath string) string { return letters(path.Base(path.Dir(importPath)) + "logic") }

// importAlias names a package after its last two folders: policyv1.
func importAlias(importPath string) string {
	return letters(path.Base(path.Dir(importPath)) + path.Base(importPath))
}

// letters returns a text in lower case, without what a Go name can't have.
func letters(name string) string {
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
	"found", "item", "jsonCell", "name", "newScope", "obj", "ok", "old", "one", "op", "openAPI", "options", "out",
	"query", "replicas", "result", "selector", "selectorText", "s", "scheme", "scope", "stored", "swagger", "text",
	"to", "value", "warnings",
}

func (p *printer) groupFunc(f *jen.File) {
	var versions []string
	var resources []jen.Code
	for _, v := range p.group.ServedVersions() {
		versions = append(versions, v.Name)
	}
	for _, r := range p.group.Resources {
		if len(r.Served()) == 0 {
			continue
		}
		call := "define" + r.Kind + "(" + when(p.scoped, "scope") + ")"
		if r.WithoutStorage {
			resources = append(resources, p.withoutStorage(r, call))
		} else {
			resources = append(resources, newResource(r, call))
		}
	}
	f.Commentf("Group is %s.", p.called())
	f.Add(gocode.Code("func Group($) registry.Group {\n"+when(p.scoped, "scope := newScope()\n")+"return $\n}",
		jen.List(p.providers()...), literal(gocode.Code("registry.Group"),
			textMember("Name", p.group.Name),
			member("Versions", texts(versions)),
			member("Resources", literal(gocode.Code("[]registry.Resource"), resources...)),
			member("AddToScheme", jen.Id("AddToScheme")),
			member("OpenAPI", gocode.Code(plan.OpenAPIFunc+"()")),
			member("Swagger", gocode.Code(plan.SwaggerFunc+"()")),
		)))
}

// newResource makes a resource of a definition, with objects of its own or those of another group.
func newResource(r *model.Resource, definition string) jen.Code {
	of := r.SameAs
	if of == nil {
		return gocode.Code("registry.New(" + definition + ")")
	}
	return gocode.Code("registry.NewSameAs("+definition+", registry.StoredResource$)", jen.Values(
		textMember("Group", of.Group.Name), textMember("Kind", of.Kind), textMember("Plural", of.Plural)))
}

// addToScheme prints AddToScheme, which registers the hub package and every served version.
func (p *printer) addToScheme(f *jen.File) {
	var adders []jen.Code
	seen := map[string]bool{}
	if hub := p.group.Internal; hub != nil {
		seen[hub.Path] = true
		adders = append(adders, jen.Qual(hub.Path, p.plan.OfPackage(hub).Registration.Function))
	}
	for _, v := range p.group.Versions {
		for _, pkg := range v.Packages {
			if home := p.plan.Home(pkg); !seen[home.Path] {
				seen[home.Path] = true
				adders = append(adders, p.adders(versionPackage{v, pkg})...)
			}
		}
	}
	var priority []jen.Code // the served versions, the preferred one first
	for _, v := range p.group.ServedVersions() {
		priority = append(priority, p.groupVersion(v))
	}
	f.Comment("AddToScheme registers the Go types of the group, with their defaults and conversions, and the " +
		"priority of its versions.")
	f.Add(gocode.Code("func AddToScheme(scheme *runtime.Scheme) error {\n$\nreturn scheme.SetVersionPriority$\n}",
		addAll(adders), jen.Custom(arguments, priority...)))
	for _, of := range p.unregistered {
		p.adder(f, of)
	}
}

// addAll prints the calls of the functions that register types: a loop, if there is more than one.
func addAll(adders []jen.Code) jen.Code {
	const call = "if err := $(scheme); err != nil {\nreturn err\n}"
	if len(adders) == 1 {
		return gocode.Code(call, adders[0])
	}
	return gocode.Code("for _, add := range []func(*runtime.Scheme) error$ {\n$\n}", jen.Values(adders...),
		gocode.Code(call, jen.Id("add")))
}

func (p *printer) groupVersion(v *model.Version) jen.Code {
	return gocode.Code("schema.GroupVersion{Group: $, Version: $}", jen.Lit(p.group.Name), jen.Lit(v.Name))
}

// arguments lays the arguments of a call out one a line, braces the elements of a composite literal.
var (
	arguments = jen.Options{Open: "(", Close: ")", Separator: ",", Multi: true}
	braces    = jen.Options{Open: "{", Close: "}", Separator: ",", Multi: true}
)

// literal is a composite literal, of no type where that is nil. It leaves out members that are nil.
func literal(typ jen.Code, members ...jen.Code) *jen.Statement {
	return gocode.Code("$$", typ, jen.Custom(braces, members...))
}

func member(name string, value jen.Code) jen.Code { return jen.Id(name).Op(":").Add(value) }

func textMember(name, value string) jen.Code { return member(name, jen.Lit(value)) }

// optional is a member that is left out where the text is empty.
func optional(name, value string) jen.Code { return when(value != "", textMember(name, value)) }

// list is a member that is left out if there are no elements.
func list(name string, typ jen.Code, elements []jen.Code) jen.Code {
	return when(len(elements) > 0, member(name, literal(typ, elements...)))
}

// when is the value where the condition holds, else the zero value.
func when[T any](condition bool, value T) T {
	if !condition {
		value = *new(T)
	}
	return value
}

func texts(values []string) jen.Code { return gocode.Code(fmt.Sprintf("%#v", values)) }

// adders are the functions that register what a version has: the AddToScheme or Install of its home; or, if it is of
// another module, that module's own, or one in the wiring if it has none, and what was generated here.
func (p *printer) adders(of versionPackage) []jen.Code {
	from, home := of.pkg, p.plan.Home(of.pkg)
	if from.ServedBy == nil {
		return []jen.Code{jen.Qual(home.Path, p.plan.OfPackage(home).Registration.Function)}
	}
	var out []jen.Code
	if name := p.plan.OfPackage(from).Registration.Function; name != "" {
		out = append(out, jen.Qual(from.Path, name))
	} else {
		p.unregistered = append(p.unregistered, of)
		out = append(out, jen.Id(of.adderName()))
	}
	if d := p.plan.OfPackage(home).Defaults; d != nil && d.Registers {
		out = append(out, jen.Qual(home.Path, "RegisterDefaults"))
	}
	if p.plan.RegistersConversions(home) {
		out = append(out, jen.Qual(home.Path, "RegisterConversions"))
	}
	return out
}

// versionPackage is a package of a version.
type versionPackage struct {
	version *model.Version
	pkg     *model.Package
}

// adderName returns addV1. If the version is several packages, it returns addV1Trials, after the folder above, or
// addV1Trials2 for the second one in such a folder.
func (of versionPackage) adderName() string {
	name := "add" + spelling.UpperFirst(of.version.Name)
	if len(of.version.Packages) == 1 {
		return name
	}
	folder, count := "", map[string]int{}
	for _, p := range of.version.Packages[:slices.Index(of.version.Packages, of.pkg)+1] {
		folder = letters(path.Base(path.Dir(p.Path)))
		count[folder]++
	}
	if name += spelling.UpperFirst(folder); count[folder] > 1 {
		name += strconv.Itoa(count[folder])
	}
	return name
}

// adder prints the function that registers the kinds of a package that registers them nowhere that others can reach.
func (p *printer) adder(f *jen.File, of versionPackage) {
	args := []jen.Code{jen.Id("version")}
	add := func(t *model.Type) { args = append(args, jen.Op("&").Qual(t.Package.Path, t.Name).Values()) }
	for _, t := range of.version.Kinds {
		if t.Package != of.pkg {
			continue
		}
		add(t)
		if list := t.Kind.ListType; list != nil && list.Methods["DeepCopyObject"] != nil {
			add(list)
		}
	}
	name := of.adderName()
	f.Commentf("%s registers the kinds of %s, which has no AddToScheme.", name, of.pkg.Path)
	f.Add(gocode.Code("func "+name+"(scheme *runtime.Scheme) error {\nversion := $\nscheme.AddKnownTypes$\n"+
		"metav1.AddToGroupVersion(scheme, version)\nreturn nil\n}", p.groupVersion(of.version),
		jen.Custom(arguments, args...)))
}

// alias is the name under which a version of another module is imported: appsv1.
func (p *printer) alias(pkg *model.Package) string {
	return strings.ToLower(p.group.GoName) + pkg.Version
}
