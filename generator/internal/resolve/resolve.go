// Package resolve makes the model of a loaded universe: it turns Go's types into the model's, puts into it what markers
// say, and finds groups, resources, subresources and clients. It may know load, marker, the model and diagnostics.
package resolve

import (
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
)

// Options say what to load, and how to make a model of it.
type Options struct {
	load.Options
	// Header is the text that every generated file begins with.
	Header string
}

// Result is the model of a universe, and what was found wrong while it was made.
type Result struct {
	Program *model.Program
	// Types are all types that the packages of the program reach, by their keys.
	Types []*model.Type
	*faults
}

// New makes the model step by step: each reads what those before it made.
func New(u *load.Universe, o Options) *Result {
	f := &faults{u: u, lenient: o.Lenient}
	p := &model.Program{Header: o.Header, RuntimeAvailable: u.RuntimeAvailable(), Lenient: o.Lenient}
	types := newTypeBuilder(f)
	p.Packages = types.packagesOf(u.Roots())
	served := &serveBuilder{types}
	for _, pkg := range p.Packages {
		served.resolve(pkg)
	}
	served.dropKinds(p.Packages)
	types.expand()
	types.foreignHooks()
	for _, pkg := range p.Packages {
		lists(f, pkg.Source())
		resolvePaths(f, pkg.Source())
	}
	groups := &groupBuilder{faults: f, packages: p.Packages, runtime: p.RuntimeAvailable}
	p.Groups = groups.groups()
	types.expand()
	p.Clients = (&clientBuilder{groups, o.ClientImports}).clients(p)
	checkCEL(f, p, o.RuleImports)
	clients := func(p *model.Package) bool { return p.Clients }
	registered := p.RuntimeAvailable || slices.ContainsFunc(p.Packages, clients)
	for _, pkg := range p.Packages {
		pkg.RegistersInInit = pkg.RegistersInInit && !registered
	}
	return &Result{Program: p, Types: types.all(), faults: f}
}

// Diagnostics returns all faults that are known of the universe and of its model, without those that only follow from
// others, and the faults that keep nothing from being generated.
func (r *Result) Diagnostics() (errs, warnings diag.Errors) {
	errs = r.u.Report(r.errs, r.invalid)
	return errs, slices.Concat(r.u.Warnings(), r.warnings)
}

// checkCEL warns at the first rule in CEL where the module can't import the library that runs it.
func checkCEL(f *faults, p *model.Program, imports []string) {
	if !p.RuntimeAvailable {
		return
	}
	for _, path := range imports {
		missing := f.u.Missing(path)
		if missing == nil {
			continue
		}
		if pos := firstRule(p); pos.IsValid() {
			f.warnf(pos, "rules in CEL need %s, which can't be imported yet (%v): run go mod tidy", path, missing)
		}
		return
	}
}

// firstRule returns where the first rule in a package is that output is written for.
func firstRule(p *model.Program) model.Position {
	for _, pkg := range p.Packages {
		if !pkg.Output {
			continue
		}
		for _, t := range pkg.Types {
			schemas := []*model.Schema{&t.Schema}
			for _, f := range t.Fields {
				schemas = append(schemas, &f.Schema, f.Schema.Items)
			}
			for _, s := range schemas {
				if s != nil && len(s.CEL) > 0 {
					return s.CEL[0].Pos
				}
			}
		}
	}
	return model.Position{}
}
