// Package plan decides what a run of the generator writes, once and for the whole program: which functions will exist,
// how each field is converted, what registers a package's types, and what a server calls. A plan is pure data; it can
// be built from a model in a test, and printed. Emitters print from it and decide nothing that another one needs to
// know. It knows the model.
package plan

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan/check"
	"apigen.dev/generator/internal/plan/clientset"
	"apigen.dev/generator/internal/plan/defaulter"
	"apigen.dev/generator/internal/plan/document"
	"apigen.dev/generator/internal/plan/expression"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/plan/registration"
	"apigen.dev/generator/internal/plan/serving"
)

// Plan is a program and what is decided about it. It isn't changed once it is made.
type Plan struct {
	*model.Program
	// Also are the packages that files are planned for although the run only looks at them.
	Also []*model.Package
	// PackagePlans are there for each package of the program, of its groups, and of the types that servers decode.
	PackagePlans map[*model.Package]*PackagePlan
	// TypePlans are there for each type that servers decode.
	TypePlans map[*model.Type]*TypePlan
	// ResourcePlans are there for each resource of the program's groups.
	ResourcePlans map[*model.Resource]*ResourcePlan
	// PairPlans are there for the types of a group's versions, to the hub and back.
	PairPlans map[Pair]*PairPlan
	// Scoped are the groups whose conversions take a conversion.Scope, since some are written by hand.
	Scoped map[*model.Group]bool
	// ConversionFaults are fields that can't be converted, names that are taken, and marks that can't mean anything.
	ConversionFaults diag.Errors
	// ClientSets are the client packages that are planned. ClientFaults keep them from being written.
	ClientSets   []*clientset.Set
	ClientFaults diag.Errors
	// Rules are the rules in CEL.
	Rules *expression.Rules
}

// PackagePlan is what is decided about a package.
type PackagePlan struct {
	Registration *registration.Registration
	Defaults     *Defaults
	// Conversions are nil if the package is not a spoke.
	Conversions *Conversions
	Validations *check.Functions
}

// TypePlan is what is decided about a type that servers decode.
type TypePlan struct {
	// Defaulter sets the defaults of an object, and Validation checks it against the rules of its markers. They are
	// empty if there is none.
	Defaulter, Validation Func
	// Rules are the rules in CEL; nil if there are none.
	Rules   *expression.TypeRules
	Columns []serving.Column
}

// ResourcePlan is what is decided about a resource.
type ResourcePlan struct {
	// Hooks are its hand-written logic, in the order of a Strategy's fields.
	Hooks []hook.Hook
	// Serving is nil in groups without wiring.
	Serving *serving.Serving
}

// PairPlan is what is decided about the conversion of one type to another, of which one is a version's and one the hub.
type PairPlan struct {
	// Converter is empty where nothing converts.
	Converter Func
	// RoundTrip are the losses that the test of a served version's conversion to the hub expects; nil otherwise.
	RoundTrip *RoundTrip
}

// New plans the files of the packages that a run was asked for, and those of the packages in also.
func New(program *model.Program, also ...*model.Package) *Plan {
	p := &Plan{
		Program: program, Also: also,
		PackagePlans: map[*model.Package]*PackagePlan{}, TypePlans: map[*model.Type]*TypePlan{},
		ResourcePlans: map[*model.Resource]*ResourcePlan{}, PairPlans: map[Pair]*PairPlan{},
		Scoped: map[*model.Group]bool{},
	}
	u, functions := newUniverse(program), defaulter.Find(program)
	for _, pkg := range p.packages() {
		defaults := defaultsOf(u, pkg, functions)
		p.PackagePlans[pkg] = &PackagePlan{
			Registration: registration.Of(pkg, defaults.Generated), Defaults: defaults,
			Validations: check.New(program, pkg),
		}
	}
	p.Rules = expression.New(program, p.Writes)
	for _, v := range p.wire() {
		p.TypePlans[v.typ] = &TypePlan{
			Defaulter: p.defaulter(v.typ), Validation: p.validation(v.typ), Rules: p.Rules.Of(v.typ),
			Columns: serving.Columns(v.typ, v.hub),
		}
	}
	for _, g := range program.Groups {
		for _, r := range g.Resources {
			p.ResourcePlans[r] = &ResourcePlan{Hooks: hook.Of(r)}
		}
	}
	p.convert(u)
	for _, g := range p.Wired() {
		for _, r := range g.Resources {
			p.ResourcePlans[r].Serving = p.serve(g, r)
		}
	}
	p.clients()
	return p
}

// OfPackage returns what is decided about a package.
func (p *Plan) OfPackage(pkg *model.Package) PackagePlan { return recordOf(p.PackagePlans, pkg) }

// OfType returns what is decided about a type: nothing, unless servers decode it.
func (p *Plan) OfType(t *model.Type) TypePlan { return recordOf(p.TypePlans, t) }

// OfResource returns what is decided about a resource.
func (p *Plan) OfResource(r *model.Resource) ResourcePlan { return recordOf(p.ResourcePlans, r) }

// OfPair returns what is decided about the conversion of a pair.
func (p *Plan) OfPair(pair Pair) PairPlan { return recordOf(p.PairPlans, pair) }

// recordOf returns the record under a key; an empty one if nothing was decided.
func recordOf[K comparable, R any](records map[K]*R, key K) (r R) {
	if found := records[key]; found != nil {
		r = *found
	}
	return r
}

// Hook returns the resource's hook of that name, or nil.
func (p *Plan) Hook(r *model.Resource, name string) *hook.Hook {
	hooks := p.OfResource(r).Hooks
	if i := slices.IndexFunc(hooks, func(h hook.Hook) bool { return h.Name == name }); i >= 0 {
		return &hooks[i]
	}
	return nil
}

func (p *Plan) clients() {
	for _, c := range p.Clients {
		if !p.Writes(c.Marked) {
			continue
		}
		s, faults := clientset.New(c)
		p.ClientFaults = append(p.ClientFaults, faults...)
		for _, v := range s.Versions() {
			registration := p.OfPackage(v.Package).Registration
			v.AddToScheme = registration.Function
			p.ClientFaults = append(p.ClientFaults, registration.CallFaults(v.Package)...)
			p.describeApplied(v)
		}
		if len(s.Groups) > 0 {
			p.ClientSets = append(p.ClientSets, s)
		}
	}
	p.ClientFaults = p.ClientFaults.Sorted()
}

// describeApplied adds the schemas of the kinds of a version that clients apply.
func (p *Plan) describeApplied(v *clientset.Version) {
	var types []*model.Type
	for _, k := range v.Applied() {
		types = append(types, k.Type)
		k.Schema, k.SchemeName = document.Name(k.Type), document.SchemeName(k.Type)
	}
	v.Schemas = document.Schemas(p.Program, v.Group.Model, v.Model, types)
}

func (p *Plan) packages() []*model.Package {
	all := slices.Clone(p.Packages)
	add := func(pkg *model.Package) {
		if pkg != nil && !slices.Contains(all, pkg) {
			all = append(all, pkg)
		}
	}
	for _, g := range p.Groups {
		add(g.Internal)
		for _, pkg := range g.Packages() {
			add(pkg)
		}
	}
	for _, t := range p.WireTypes() {
		add(t.Package)
		add(t.Package.Home())
	}
	return all
}

// WireTypes are the types that servers of the groups with wiring decode: kinds in each of their versions, and what
// subresources take and answer.
func (p *Plan) WireTypes() []*model.Type {
	var types []*model.Type
	for _, v := range p.wire() {
		types = append(types, v.typ)
	}
	return types
}

// wire are WireTypes, each with its hub.
func (p *Plan) wire() []versionOf {
	var out []versionOf
	for _, g := range p.Wired() {
		for _, r := range g.Resources {
			for _, v := range wireVersions(r, r.Versions) {
				if !slices.ContainsFunc(out, func(o versionOf) bool { return o.typ == v.typ }) {
					out = append(out, v)
				}
			}
		}
	}
	return out
}

type versionOf struct {
	kind, name string
	typ, hub   *model.Type
}

func wireVersions(r *model.Resource, versions []model.ResourceVersion) []versionOf {
	var out []versionOf
	for _, v := range versions {
		out = append(out, versionOf{r.Kind, v.Version.Name, v.Type, r.Hub})
	}
	for _, s := range r.Subresources {
		for _, payload := range s.Payloads() {
			for _, v := range payload.Versions {
				out = append(out, versionOf{payload.Kind, v.Name, v.Type, payload.Hub})
			}
		}
	}
	return out
}

// defaulter is the SetObjectDefaults function of the type: written by hand, generated, or brought by another module.
func (p *Plan) defaulter(t *model.Type) Func {
	home, name := p.Home(t.Package), defaulter.ObjectName(t)
	switch d := p.OfPackage(home).Defaults; {
	case home.Func(name) != nil || d != nil && d.Object(t):
		return Func{home.Path, name}
	case t.Package.Func(name) != nil:
		return Func{t.Package.Path, name}
	}
	return Func{}
}

// validation is the function that checks the rules of the type's markers.
func (p *Plan) validation(t *model.Type) Func {
	if home := t.Package.Home(); p.OfPackage(home).Validations.Exported(t) {
		return Func{home.Path, check.FunctionName(t)}
	}
	return Func{}
}

// Home is the package that holds what was generated or written for a version's types: the one that declares them, or
// the local one that takes them from elsewhere (+k8s:conversion-gen-external-types).
func (p *Plan) Home(types *model.Package) *model.Package {
	for _, pkg := range p.Packages {
		if pkg.ConversionExternal == types || pkg.DefaulterInput == types {
			return pkg
		}
	}
	return types
}

// Written returns the packages that files are planned for.
func (p *Plan) Written() []*model.Package {
	return slices.DeleteFunc(slices.Clone(p.Packages), func(pkg *model.Package) bool { return !p.Writes(pkg) })
}

// Writes reports whether files are planned for a package.
func (p *Plan) Writes(pkg *model.Package) bool {
	return pkg.Output || slices.Contains(p.Also, pkg)
}

// WritesGroup reports whether files are planned for any package of a group.
func (p *Plan) WritesGroup(g *model.Group) bool {
	if g.Internal != nil && p.Writes(g.Internal) {
		return true
	}
	return slices.ContainsFunc(g.Packages(), func(pkg *model.Package) bool {
		return p.Writes(pkg) || p.Writes(pkg.Home())
	})
}

// WiredGroups are the groups that wiring is planned for.
func (p *Plan) WiredGroups() []*model.Group {
	return slices.DeleteFunc(p.Wired(), func(g *model.Group) bool { return !p.WritesGroup(g) })
}
