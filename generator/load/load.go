// Package load turns Go packages into the generator's model, or into all the errors that keep it from doing so, each
// with its position. It lists packages with go/packages, reads the packages to generate for from source and everything
// that they import from the compiler's export data, and gives markers their meaning. It is the one place that knows
// the type checker; it may know model, marker and emit's errors.
package load

import (
	"context"
	"errors"
	"os"
	"strings"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
)

// Options say what to load.
type Options struct {
	// Dir is where patterns are relative to; empty is the working directory.
	Dir string
	// Patterns are those of the go command; none is "./...".
	Patterns []string
	// Env is the environment of the go command; nil is the process's.
	Env []string
	// Header is the text that every generated file begins with.
	Header string
	// Owns tells whether a file of that base name is one that the emitters write. Such files, if generated, are not
	// read. Nil owns nothing.
	Owns func(base string) bool
	// Lenient makes faults of markers warnings everywhere, not only in modules that the user can't edit: what they ask for
	// is left undone.
	Lenient bool
	// Imports are packages that generated code may import beyond what the sources do; those that don't exist are left
	// out.
	Imports []string
	// RuntimeImports are the same, but only asked for where the module requires apigen.dev.
	RuntimeImports []string
	// RuleImports are the same, but only asked for where there are rules in CEL, too.
	RuleImports []string
	// ClientImports are the same, but only asked for where a package holds +apigen:clients.
	ClientImports []string
}

// Result is what was loaded.
type Result struct {
	Program *model.Program
	// Warnings are faults that don't keep anything from being generated.
	Warnings diag.Errors
	// Matched are the packages that the patterns matched, whether or not there is something to generate for them.
	Matched []Matched
	// Universe is the type-checked world that generated files can be checked in.
	Universe *Universe

	// unsure are the folders of packages of which nothing certain can be said.
	unsure map[string]bool
	// silenced are the lines of fields whose types don't compile, beyond the first of a package.
	silenced map[lineOf]bool
}

// Matched is a package that the patterns matched.
type Matched struct {
	Path, Dir string
	Own       bool
	// Named tells a package that was named from one that a wildcard matched.
	Named bool
}

// Load loads packages. The error is diag.Errors where the input is at fault; the result is not nil then where there are
// packages that others may find more faults in, and is what could be read.
func Load(ctx context.Context, o Options) (*Result, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Owns == nil {
		o.Owns = func(string) bool { return false }
	}
	l := &loader{Options: o, Universe: newUniverse(o), missing: map[string]bool{}, silenced: map[lineOf]bool{}, folders: map[string]map[string][]string{}}
	if err := l.listRoots(ctx); err != nil {
		return nil, l.withMarkers(err)
	}
	if err := l.listDependencies(ctx); err != nil {
		return nil, l.withMarkers(err)
	}
	l.check()
	l.absences()
	b := newBuilder(l)
	program := l.program(b)
	if program == nil {
		return nil, l.withMarkers(l.errs.Err())
	}
	res := &Result{Program: program, Matched: l.matched, Universe: l.Universe}
	if faults := l.faults(b); faults != nil {
		res.unsure, res.silenced = l.unsureDirs(), l.silenced
		return res, faults.Err()
	}
	if w := append(l.warnings, b.warnings...).Err(); w != nil {
		errors.As(w, &res.Warnings)
	}
	return res, nil
}

// loader is the state of one load, up to the type-checked universe.
type loader struct {
	Options
	*Universe
	matched  []Matched
	errs     diag.Errors
	warnings diag.Errors
	// causes are packages that files of other generators import in vain: where there are errors, those come from it.
	causes diag.Errors
	// missing are the packages that the go command can't tell the files of.
	missing map[string]bool
	// folders are those of the user's modules that name groups, by module and group.
	folders map[string]map[string][]string
	// runtime tells whether a module of the roots requires apigen.dev.
	runtime bool
	// silenced becomes the result's.
	silenced map[lineOf]bool
}

// wildcard tells whether a pattern can match more than one package.
func wildcard(pattern string) bool {
	return strings.Contains(pattern, "...") || pattern == "all" || pattern == "std" || pattern == "cmd"
}
