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
	"apigen.dev/generator/internal/plan/document"
	"apigen.dev/generator/internal/plan/expression"
	"apigen.dev/generator/internal/plan/hook"
	"apigen.dev/generator/internal/plan/serving"
)

// Plan is a program and what is decided about it. It isn't changed once it is made.
type Plan struct {
	*model.Program
	// Also are the packages that files are planned for although the run only looks at them.
	Also []*model.Package
	// Registrations and Defaults are there for each package of the program and of its groups.
	Registrations map[*model.Package]*Registration
	Defaults      map[*model.Package]*Defaults
	// Conversions are those of each package that is a spoke, in the order of the packages. ConversionFaults are marks
	// of preserved fields, and of packages, that can't mean anything.
	Conversions      []*Conversions
	ConversionFaults diag.Errors
	// Hooks are the hand-written logic of each resource, in the order of a Strategy's fields.
	Hooks map[*model.Resource][]hook.Hook
	// Defaulters are the functions that set the defaults of the types that servers decode.
	Defaulters map[*model.Type]Func
	// Converters are the functions that convert the types of versions to the hub and back. A pair that nothing converts
	// is missing.
	Converters map[Pair]Func
	// Scoped are the groups whose conversions take a conversion.Scope, since some are written by hand.
	Scoped map[*model.Group]bool
	// RoundTrips are the losses that tests of conversions to the hub expect.
	RoundTrips map[Pair]*RoundTrip
	// Serving is there for each resource of groups with wiring. Columns are those of the types that servers encode.
	Serving map[*model.Resource]*serving.Serving
	Columns map[*model.Type][]serving.Column
	// ClientSets are the client packages that are planned. ClientFaults keep them from being written.
	ClientSets   []*clientset.Set
	ClientFaults diag.Errors
	// Checked are the validation functions of each package. Checks are the functions that check the types that servers
	// decode.
	Checked map[*model.Package]*check.Functions
	Checks  Checks
	// Rules are the rules in CEL.
	Rules *expression.Rules
}

// Checks are functions that check objects when they are written, by type.
type Checks struct {
	// Markers are those for the rules of markers.
	Markers map[*model.Type]Func
	// CEL are the functions of a group's wiring package that return the rules in CEL.
	CEL map[*model.Type]string
}

// New plans the files of the packages that a run was asked for, and those of the packages in also.
func New(program *model.Program, also ...*model.Package) *Plan {
	p := &Plan{
		Program: program, Also: also,
		Registrations: map[*model.Package]*Registration{}, Defaults: map[*model.Package]*Defaults{},
		Hooks: map[*model.Resource][]hook.Hook{}, Defaulters: map[*model.Type]Func{},
		Converters: map[Pair]Func{}, Scoped: map[*model.Group]bool{}, RoundTrips: map[Pair]*RoundTrip{},
		Serving: map[*model.Resource]*serving.Serving{}, Columns: map[*model.Type][]serving.Column{},
		Checked: map[*model.Package]*check.Functions{}, Checks: Checks{Markers: map[*model.Type]Func{}},
	}
	u, functions := newUniverse(program), findDefaulters(program)
	for _, pkg := range p.packages() {
		p.Defaults[pkg] = defaultsOf(u, pkg, functions)
		p.Registrations[pkg] = registrationOf(pkg, p.Defaults[pkg])
		p.Checked[pkg] = check.New(program, pkg)
	}
	for _, g := range program.Groups {
		for _, r := range g.Resources {
			p.Hooks[r] = hook.Of(r)
		}
	}
	for _, t := range p.WireTypes() {
		if f, ok := p.defaulter(t); ok {
			p.Defaulters[t] = f
		}
		if home := t.Package.Home(); p.Checked[home].Exported(t) {
			p.Checks.Markers[t] = Func{home.Path, check.FunctionName(t)}
		}
	}
	for _, v := range p.wire() {
		p.Columns[v.typ] = serving.Columns(v.typ, v.hub)
	}
	p.Rules = expression.New(program, p.WireTypes(), p.Writes)
	p.Checks.CEL = p.Rules.Functions
	p.convert(u)
	for _, g := range p.Wired() {
		for _, r := range g.Resources {
			p.Serving[r] = p.serve(g, r)
		}
	}
	p.clients()
	return p
}

// Hook returns the resource's hook of that name, or nil.
func (p *Plan) Hook(r *model.Resource, name string) *hook.Hook {
	for i, h := range p.Hooks[r] {
		if h.Name == name {
			return &p.Hooks[r][i]
		}
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
			v.AddToScheme = p.SchemeFunction(v.Package, &p.ClientFaults)
			p.describeApplied(v)
		}
		if len(s.Groups) > 0 {
			p.ClientSets = append(p.ClientSets, s)
		}
	}
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
		for _, v := range g.Versions {
			add(v.Package)
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
func (p *Plan) defaulter(t *model.Type) (Func, bool) {
	home, name := p.Home(t.Package), ObjectDefaulter(t)
	switch d := p.Defaults[home]; {
	case home.Func(name) != nil || d != nil && d.Object(t):
		return Func{home.Path, name}, true
	case t.Package.Func(name) != nil:
		return Func{t.Package.Path, name}, true
	}
	return Func{}, false
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

// Writes reports whether files are planned for a package.
func (p *Plan) Writes(pkg *model.Package) bool {
	return pkg.Output || slices.Contains(p.Also, pkg)
}

// WritesGroup reports whether files are planned for any package of a group.
func (p *Plan) WritesGroup(g *model.Group) bool {
	if g.Internal != nil && p.Writes(g.Internal) {
		return true
	}
	return slices.ContainsFunc(g.Versions, func(v *model.Version) bool {
		return p.Writes(v.Package) || p.Writes(v.Package.Home())
	})
}

// WiredGroups are the groups that wiring is planned for.
func (p *Plan) WiredGroups() []*model.Group {
	return slices.DeleteFunc(p.Wired(), func(g *model.Group) bool { return !p.WritesGroup(g) })
}
