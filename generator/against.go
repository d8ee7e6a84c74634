package generator

import (
	"context"
	"fmt"
	"os"

	"apigen.dev/generator/compat"
	"apigen.dev/generator/diag"
	"apigen.dev/generator/emit/rules"
	"apigen.dev/generator/load"
	"apigen.dev/generator/resolve"
)

// CompatOptions say what to compare.
type CompatOptions struct {
	// Dir is the folder of the new state; empty is the working directory.
	Dir string
	// Against is the old state: a folder, or what git knows as a commit of the repository that Dir is in.
	Against string
	// Patterns are those of the go command, for both states; none is ./... .
	Patterns []string
	// Env is the environment of the go command; nil is the process's.
	Env []string
}

// CompatResult is what Compat found.
type CompatResult struct {
	Findings []compat.Finding
	// Dir and OldDir are the folders that were read: positions lie below them, unless in other modules.
	Dir, OldDir string
	// Warnings are faults of the new state that don't keep anything from being compared.
	Warnings diag.Errors
}

// Compat loads two states of an API and compares them. The error is diag.Errors where one of them is at fault. Nothing
// is written but a temporary folder that is removed.
func Compat(ctx context.Context, o CompatOptions) (*CompatResult, error) {
	dir, err := AbsoluteDir(o.Dir)
	if err != nil {
		return nil, err
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if err := Recover(dir); err != nil {
		return nil, err
	}
	old, clean, err := checkout(ctx, dir, o.Against)
	if err != nil {
		return nil, err
	}
	defer clean()
	before, err := loadState(ctx, old.dir, o)
	if err != nil {
		return nil, fmt.Errorf("the state to compare with, %s, doesn't load:\n%s%s", o.Against, Describe(err, old.dir),
			old.absent())
	}
	after, err := loadState(ctx, dir, o)
	if err != nil {
		return nil, err
	}
	return &CompatResult{
		Findings: compat.Compare(before.Program, after.Program),
		Dir:      dir, OldDir: old.dir, Warnings: after.Warnings,
	}, nil
}

func loadState(ctx context.Context, dir string, o CompatOptions) (*resolve.Result, error) {
	return resolve.Load(ctx, resolve.Options{Options: load.Options{
		Dir: dir, Patterns: o.Patterns, Env: o.Env, Owns: owner(Emitters()), Lenient: true,
		Imports: imports, RuntimeImports: runtimeImports, RuleImports: rules.Imports(),
	}})
}
