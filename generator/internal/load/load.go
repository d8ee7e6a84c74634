// Package load is the universe of one run: Go packages with their types, comments and markers. It lists packages with
// go/packages, reads those to generate for from source, and everything that they import from the compiler's export
// data. Its diagnostics have positions, and it knows which packages they leave incomplete. It is the one place that
// knows go/packages; it may know marker, the model that markers are put into, folder, and diagnostics.
package load

import (
	"context"
	"os"
	"strings"

	"apigen.dev/generator/internal/diag"
)

// Options say what to load.
type Options struct {
	// Dir is where patterns are relative to; empty is the working directory.
	Dir string
	// Patterns are those of the go command; none is "./...".
	Patterns []string
	// Env is the environment of the go command; nil is the process's.
	Env []string
	// Owns reports whether a file of that base name is one that the emitters write. Such files, if generated, are not
	// read. Nil owns nothing.
	Owns func(base string) bool
	// Lenient makes faults of markers warnings everywhere, not only in modules that the user can't edit: what they ask
	// for is left undone.
	Lenient bool
	// ReadOnly: nothing is generated, so that dependencies need not compile.
	ReadOnly bool
	// Imports are packages that generated code may import beyond what the sources do; those that don't exist are left
	// out.
	Imports []string
	// RuntimeImports are the same, but only asked for where the module requires apigen.dev.
	RuntimeImports []string
	// RuleImports are the same, but only asked for if there are rules in CEL, too.
	RuleImports []string
	// ClientImports are the same, but only asked for where clients are.
	ClientImports []string
	// Listings remembers dependencies for later loads of this process; nil remembers nothing.
	Listings *Listings
}

// Matched is a package that the patterns matched.
type Matched struct {
	Path, Dir string
	Own       bool
	// Named tells a package that was named from one that a wildcard matched.
	Named bool
}

// Load loads packages. The error is diag.Errors where the go command can't list them; other faults are for
// Universe.Report.
func Load(ctx context.Context, o Options) (*Universe, error) {
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	if o.Owns == nil {
		o.Owns = func(string) bool { return false }
	}
	u := newUniverse(o)
	if err := u.listRoots(ctx); err != nil {
		return nil, u.withMarkers(err)
	}
	if err := u.listDependencies(ctx); err != nil {
		return nil, u.withMarkers(err)
	}
	u.check()
	u.checkImports()
	if !o.ReadOnly {
		u.checkCompiled()
	}
	return u, nil
}

func wildcard(pattern string) bool {
	return strings.Contains(pattern, "...") || pattern == "all" || pattern == "std" || pattern == "cmd"
}

// diagnostics are what was found before there is a model.
type diagnostics struct {
	errs     diag.Errors
	warnings diag.Errors
	// causes are failed imports in files of other generators: if there are errors, they follow from these.
	causes diag.Errors
	// silenced are the lines of fields whose types don't compile, beyond the first of a package.
	silenced map[lineOf]bool
	// incomplete are the folders of packages that are known incompletely; nil until it is asked for.
	incomplete map[string]bool
	// unread are the folders of those of which files or imports couldn't be read; nil until it is asked for.
	unread map[string]bool
}
