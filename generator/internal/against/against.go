// Package against compares an API with an earlier state of it, which it reads from a folder or from git.
package against

import (
	"context"
	"fmt"
	"os"

	"apigen.dev/generator/internal/compat"
	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit/rules"
	"apigen.dev/generator/internal/folder"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/output"
	"apigen.dev/generator/internal/product"
	"apigen.dev/generator/internal/program"
	"apigen.dev/generator/internal/report"
)

// Options say what to compare.
type Options struct {
	// Dir is the folder of the new state; empty is the working directory.
	Dir string
	// Against is the old state: a folder, or what git knows as a commit of the repository that Dir is in.
	Against string
	// Patterns are those of the go command, for both states; none is ./... .
	Patterns []string
	// Env is the environment of the go command; nil is the process's.
	Env []string
}

// Result is what Compare found.
type Result struct {
	Findings []compat.Finding
	// Dir and OldDir are the folders that were read: positions lie below them, unless in other modules.
	Dir, OldDir string
	// Warnings are faults of the new state that don't keep anything from being compared.
	Warnings diag.Errors
}

// Compare loads two states of an API and compares them. The error is diag.Errors where one of them is at fault. Nothing
// is written but a temporary folder that is removed.
func Compare(ctx context.Context, o Options) (*Result, error) {
	dir, err := folder.Absolute(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if err := output.Recover(dir); err != nil {
		return nil, err
	}
	old, clean, err := checkout(ctx, dir, o.Against)
	if err != nil {
		return nil, err
	}
	defer clean()
	before, err := loadState(ctx, old.dir, o)
	if err != nil {
		return nil, fmt.Errorf("the state to compare with, %s, doesn't load:\n%s%s", o.Against,
			report.Describe(err, old.dir), old.absent())
	}
	after, err := loadState(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return &Result{
		Findings: compat.Compare(before.Program, after.Program),
		Dir:      dir, OldDir: old.dir, Warnings: after.Warnings,
	}, nil
}

func loadState(ctx context.Context, dir string, o Options) (*program.Result, error) {
	return program.Read(ctx, program.Options{Options: load.Options{
		Dir: dir, Patterns: o.Patterns, Env: o.Env, Owns: product.Owner(product.Emitters()), Lenient: true,
		Imports: product.Imports, RuntimeImports: product.RuntimeImports, RuleImports: rules.Imports(),
	}})
}
