// Package generator turns annotated Go packages into generated files: it loads the packages once, plans the output,
// runs the emitters, type-checks the files, and writes those that changed. The command apigen calls Build. Everything
// else that the command needs is below internal, and may change at any time.
package generator

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/emit/layout"
	"apigen.dev/generator/internal/emit/rules"
	"apigen.dev/generator/internal/folder"
	"apigen.dev/generator/internal/load"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/output"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/product"
	"apigen.dev/generator/internal/program"
	"apigen.dev/generator/internal/verify"
)

// Options say what to build. The zero value builds ./... of the working directory.
type Options struct {
	// Dir is where patterns are relative to; empty is the working directory.
	Dir string
	// Patterns are those of the go command; none is ./... .
	Patterns []string
	// Only names the emitters to run; none is all. Files of others stay as they are.
	Only []string
	// Header is the text that every file begins with: a license, as Go comments.
	Header string
	// Lenient makes faults of markers warnings, for a first build of packages that other tools were less strict about.
	Lenient bool
	// Strict makes errors of warnings.
	Strict bool
	// Check writes nothing: Result.Changes says what would be written.
	Check bool
	// Cache is the folder in which unchanged runs are remembered. Empty remembers nothing.
	Cache string
	// Losses asks for Result.Losses, for which packages are loaded even if nothing changed.
	Losses bool
	// Env is the environment of the go command; nil is the process's.
	Env []string
	// Emitters run in place of apigen's own, for tests of the generator; nil means apigen's own.
	Emitters []emit.Emitter
	// Listings remembers dependencies for later builds of this process; nil remembers nothing.
	Listings *load.Listings
	// Progress is told what Build is about to do. It may be nil.
	Progress func(stage string)
}

// Result is what a build did, or with Options.Check would do.
type Result struct {
	// Changes are the files that are written or removed, sorted by path. Empty: everything was up to date.
	Changes []Change
	// Files counts all generated files, changed or not. It is zero where Unchanged.
	Files int
	Report
	// Unchanged: nothing changed since a build that succeeded, so nothing was loaded.
	Unchanged bool
	// Plan is what was decided; nil where Unchanged.
	Plan *plan.Plan
	// Program is what was loaded, and Dirs the folders of all modules in reach that can change; nil where Unchanged.
	Program *model.Program
	Dirs    []string
}

// Change is a file that is written or removed.
type Change = output.Change

// Report is what a build has to say about the input.
type Report struct {
	// Warnings are faults that didn't keep anything from being generated. Notes are for users who expected more.
	Warnings diag.Errors
	Notes    []string
	// Losses are what conversions between versions don't copy as it is, one line each, below a line for each pair of
	// kinds.
	Losses []string
	// Remarks are what products leave out by their nature, for users who ask.
	Remarks diag.Errors
}

// Panic is the error for a panic of the generator: a bug, whatever the input.
type Panic struct {
	Value any
	Stack []byte
}

func (p Panic) Error() string {
	return fmt.Sprintf("apigen panicked; this is a bug of apigen: %v\n%s", p.Value, p.Stack)
}

// Build generates. The error is diag.Errors where the input is at fault, and verify.Bug or Panic where apigen is.
// Nothing is written when there is an error. What a run left half written that was killed is undone first.
func Build(ctx context.Context, o Options) (res *Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			res, err = nil, Panic{v, debug.Stack()}
		}
	}()
	b, err := newBuild(o)
	if err != nil {
		return nil, err
	}
	if err := output.Recover(b.Dir); err != nil {
		return nil, err
	}
	if r := b.stamp.unchanged(); r != nil {
		return r, b.strict(r.Warnings, nil)
	}
	err = b.generate(ctx)
	if err = b.strict(b.result.Warnings, err); err != nil {
		return nil, err
	}
	if !o.Check {
		b.progress("writing")
		if err := output.Write(b.Dir, b.result.Changes); err != nil {
			return nil, err
		}
	}
	if !o.Check || len(b.result.Changes) == 0 {
		b.stamp.remember(b.result, b.loaded, b.files)
	}
	return b.result, nil
}

// strict adds warnings to the faults of the input, where they are errors.
func (b *build) strict(warnings diag.Errors, err error) error {
	var faults diag.Errors
	if !b.Strict || err != nil && !errors.As(err, &faults) {
		return err
	}
	return append(slices.Clone(faults), warnings...).Err()
}

type build struct {
	Options
	emitters []emit.Emitter // those that run
	all      []emit.Emitter
	loaded   *program.Result
	files    []emit.File
	result   *Result
	stamp    *stamp
}

func newBuild(o Options) (*build, error) {
	if o.Emitters == nil {
		o.Emitters = product.Emitters()
	}
	if len(o.Patterns) == 0 {
		o.Patterns = []string{"./..."}
	}
	if o.Env == nil {
		o.Env = os.Environ()
	}
	dir, err := folder.Absolute(o.Dir)
	if err != nil {
		return nil, err
	}
	o.Dir = dir
	b := &build{Options: o, all: o.Emitters, result: &Result{}}
	if b.emitters, err = selected(o.Emitters, o.Only); err != nil {
		return nil, err
	}
	b.stamp = newStamp(o)
	return b, nil
}

func selected(all []emit.Emitter, only []string) ([]emit.Emitter, error) {
	if len(only) == 0 {
		return all, nil
	}
	var out []emit.Emitter
	for _, name := range only {
		i := slices.IndexFunc(all, func(e emit.Emitter) bool { return e.Name == name })
		if i < 0 {
			var names []string
			for _, e := range all {
				names = append(names, e.Name)
			}
			return nil, fmt.Errorf("unknown emitter %q: known are %s", name, strings.Join(names, ", "))
		}
		out = append(out, all[i])
	}
	return out, nil
}

func (b *build) progress(stage string) {
	if b.Progress != nil {
		b.Progress(stage)
	}
}

func (b *build) generate(ctx context.Context) error {
	b.progress("loading packages (dependencies that were never compiled take a while)")
	var err error
	b.loaded, err = program.Read(ctx, program.Options{Header: b.Header, Options: load.Options{
		Dir: b.Dir, Patterns: b.Patterns, Env: b.Env, Lenient: b.Lenient,
		Owns: product.Owner(b.all), Imports: product.Imports, RuntimeImports: product.RuntimeImports,
		RuleImports: rules.Imports(), ClientImports: layout.Imports(), Listings: b.Listings,
	}})
	if b.loaded != nil {
		b.result.Warnings = b.loaded.Warnings
	}
	if err != nil {
		return b.withDiagnostics(ctx, err)
	}
	b.result.Program, b.result.Dirs = b.loaded.Program, b.loaded.Universe.MutableDirs()
	b.progress("generating")
	p := plan.New(b.loaded.Program)
	b.result.Plan = p
	faults, err := b.emit(p, nothing)
	if err != nil {
		return err
	}
	if len(faults) > 0 {
		return b.withBodies(ctx, faults)
	}
	leftOver, err := b.leftOver()
	if err != nil {
		return err
	}
	b.progress("verifying")
	warnings, err := verify.Check(ctx, b.loaded.Universe, verify.Plan{
		Files: b.files, Unwritten: b.emitUnwritten(), Partial: len(b.Only) > 0,
		Removed: func(path string) bool { return leftOver[path] },
	})
	if err != nil {
		return withPeers(p, err)
	}
	b.result.Warnings = append(b.result.Warnings, warnings...).Sorted()
	b.note()
	b.result.Losses = p.Report()
	b.result.Notes = append(b.result.Notes, p.PruneNotes()...)
	return b.compare(leftOver)
}

func (b *build) leftOver() (map[string]bool, error) {
	owns := product.Owner(b.emitters)
	dirs, now := map[string]bool{}, map[string]bool{}
	for _, m := range b.loaded.Matched {
		if m.Own {
			dirs[m.Dir] = true
		}
	}
	for _, f := range b.files {
		dirs[f.Dir] = true
		now[filepath.Join(f.Dir, f.Name)] = true
	}
	for _, c := range b.loaded.Program.Clients {
		if c.Marked.Output {
			addFolders(dirs, c.Dir) // of versions that are gone, too
		}
	}
	for _, p := range b.loaded.Program.Packages {
		for _, documents := range []*model.Folder{p.Reference, p.CRDs} {
			if documents != nil && p.Output {
				dirs[documents.Dir] = true
			}
		}
	}
	out := map[string]bool{}
	for dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if e.IsDir() || now[path] || !owns(e.Name()) {
				continue
			}
			data, err := os.ReadFile(path)
			if err != nil {
				return nil, err
			}
			if output.LeftBehind(path, data) {
				out[path] = true
			}
		}
	}
	return out, nil
}

func addFolders(dirs map[string]bool, root string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			dirs[path] = true
		}
		return nil // what isn't there holds nothing that is left over
	})
}

func (b *build) note() {
	if len(b.loaded.Matched) == 0 && len(b.result.Warnings) == 0 {
		b.result.Notes = append(b.result.Notes, "no package of yours matches "+strings.Join(b.Patterns, " "))
		return
	}
	has := map[string]bool{}
	for _, f := range b.files {
		has[f.Package] = true
	}
	if len(b.files) == 0 {
		b.result.Notes = append(b.result.Notes, "nothing to generate: no package holds markers such as +groupName=, "+
			"+k8s:deepcopy-gen=package or +kubebuilder:object:generate=true above its package clause")
		return
	}
	if len(b.Only) > 0 {
		return
	}
	named := map[string]bool{}
	for _, m := range b.loaded.Matched {
		named[m.Path] = m.Named
	}
	for _, p := range b.loaded.Program.Packages {
		switch {
		case !p.Output || has[p.Path]:
		case p.Serves != nil && !b.loaded.Program.RuntimeAvailable:
			b.result.Notes = append(b.result.Notes, p.Path+": nothing to generate: +apigen:serve needs a module that "+
				"requires apigen.dev")
		case p.Serves != nil: // what is generated for it stands in the wiring
		case p.CollectGroups && !b.loaded.Program.RuntimeAvailable:
			b.result.Notes = append(b.result.Notes, p.Path+": nothing to generate: +apigen:groups needs a module "+
				"that requires apigen.dev")
		case named[p.Path] || p.HasGroup:
			b.result.Notes = append(b.result.Notes, p.Path+": nothing to generate: its markers ask for nothing")
		}
	}
}
