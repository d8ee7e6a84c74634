// Package program reads the packages that patterns match: it loads them, resolves the model of them, and judges the
// model, one after the other. Everything that needs a model starts here. It may know load, resolve, judge, model and
// diag.
package program

import (
	"context"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/judge"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/resolve"
)

// Options say what to load, and how to make a model of it.
type Options = resolve.Options

// Result is what was read.
type Result struct {
	Program *model.Program
	// Warnings are faults that don't keep anything from being generated.
	Warnings diag.Errors
	// Matched are the packages that the patterns matched, whether or not there is something to generate for them.
	Matched []load.Matched
	// Universe is the type-checked world that generated files can be checked in.
	Universe *load.Universe
}

// Read loads, resolves and judges. The error is diag.Errors where the input is at fault; the result is not nil then
// if there are packages that others may find more faults in, and is what could be read.
func Read(ctx context.Context, o Options) (*Result, error) {
	u, err := load.Load(ctx, o.Options)
	if err != nil {
		return nil, err
	}
	if u.Endless() {
		return nil, u.Faults()
	}
	resolved := resolve.New(u, o)
	findings := judge.Program(resolved.Program, resolved.Types)
	for _, f := range findings {
		report(resolved, f)
	}
	judge.LeaveOut(findings)
	res := &Result{Program: resolved.Program, Matched: u.Matched(), Universe: u}
	faults, warnings := resolved.Diagnostics()
	res.Warnings = warnings.Sorted()
	return res, faults.Err()
}

func report(to *resolve.Result, f judge.Finding) {
	switch f.Severity {
	case judge.Error:
		to.Error(f.Error)
	case judge.Fault:
		to.Fault(f.In, f.Error)
	case judge.Warning:
		to.Warning(f.In, f.Error)
	}
}
