// Package resolve makes the model of a loaded universe: it turns Go's types into the model's, puts into it what markers
// say, finds groups, resources, subresources and clients, has the result judged, and leaves out what the judges
// refused. It may know load, marker, judge, the model and diagnostics.
package resolve

import (
	"context"
	"errors"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/judge"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
)

// Options say what to load, and how to make a model of it.
type Options struct {
	load.Options
	// Header is the text that every generated file begins with.
	Header string
}

// Result is what was loaded.
type Result struct {
	Program *model.Program
	// Warnings are faults that don't keep anything from being generated.
	Warnings diag.Errors
	// Matched are the packages that the patterns matched, whether or not there is something to generate for them.
	Matched []load.Matched
	// Universe is the type-checked world that generated files can be checked in.
	Universe *load.Universe
}

// Load loads packages and makes the model of them. The error is diag.Errors where the input is at fault; the result is
// not nil then where there are packages that others may find more faults in, and is what could be read.
func Load(ctx context.Context, o Options) (*Result, error) {
	u, err := load.Load(ctx, o.Options)
	if err != nil {
		return nil, err
	}
	if u.Endless() {
		return nil, u.Faults()
	}
	f := &faults{u: u, lenient: o.Lenient}
	res := &Result{Program: program(f, o), Matched: u.Matched(), Universe: u}
	found := u.Report(f.errs, f.invalid)
	if w := append(u.Warnings(), f.warnings...).Err(); w != nil {
		errors.As(w, &res.Warnings)
	}
	return res, found.Err()
}

// program makes the model step by step: each reads what those before it made.
func program(f *faults, o Options) *model.Program {
	p := &model.Program{Header: o.Header, RuntimeAvailable: f.u.RuntimeAvailable(), Lenient: o.Lenient}
	types := newTypeBuilder(f)
	p.Packages = types.packagesOf(f.u.Roots())
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
	f.judged(judge.Program(p, types.all()))
	return p
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
