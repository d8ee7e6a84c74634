package generator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/model"
	"apigen.dev/generator/internal/plan"
	"apigen.dev/generator/internal/verify"
)

func (b *build) emit(p *plan.Plan) error {
	var faults diag.Errors
	byPath := map[string]string{}
	for _, e := range b.emitters {
		files, err := e.Emit(p)
		var list diag.Errors
		switch {
		case errors.As(err, &list):
			faults = addNew(faults, list)
		case err != nil:
			return bug("emitter %s: %v", e.Name, err)
		}
		if e.Warnings != nil {
			b.result.Warnings = append(b.result.Warnings, e.Warnings(p)...)
		}
		if e.Remarks != nil && err == nil {
			b.result.Remarks = append(b.result.Remarks, e.Remarks(p)...)
		}
		for _, f := range files {
			path := pathOf(f)
			if other := byPath[path]; other != "" {
				return bug("emitters %s and %s both write %s", other, e.Name, path)
			}
			byPath[path] = e.Name
			b.files = append(b.files, f)
		}
	}
	slices.SortFunc(b.files, func(x, y emit.File) int { return strings.Compare(pathOf(x), pathOf(y)) })
	b.result.Files = len(b.files)
	return faults.Err()
}

func bug(format string, args ...any) error {
	return verify.Bug{Errors: diag.Errors{{Message: fmt.Sprintf(format, args...)}}}
}

// addNew adds the faults that aren't there yet: emitters that share a part of the plan report its faults alike.
func addNew(faults, more diag.Errors) diag.Errors {
	for _, f := range more {
		if !slices.Contains(faults, f) {
			faults = append(faults, f)
		}
	}
	return faults
}

func pathOf(f emit.File) string { return filepath.Join(f.Dir, f.Name) }

// emitUnwritten returns the files of the user's packages that this run only looks at. They are not written, but what is
// written may need them: a package can be generated before those that it depends on, in any order. Where they differ
// from the disk, users are told.
func (b *build) emitUnwritten() []emit.File {
	var looked []*model.Package
	inLooked := map[string]bool{}
	for _, p := range b.loaded.Program.Packages {
		if !p.Output && p.Own() {
			looked, inLooked[p.Path] = append(looked, p), true
		}
	}
	if len(looked) == 0 {
		return nil
	}
	written := map[string]bool{}
	for _, f := range b.files {
		written[pathOf(f)] = true
	}
	p := plan.New(b.loaded.Program, looked...)
	var out []emit.File
	for _, e := range b.all {
		files, err := e.Emit(p)
		if err != nil {
			continue // its faults are those of a run that asks for it
		}
		for _, f := range files {
			if !written[pathOf(f)] && (len(b.Only) == 0 || inLooked[f.Package]) {
				out = append(out, f)
			}
		}
	}
	b.noteStale(out)
	return out
}

// noteStale names the packages that are only looked at and whose generated code is not what it should be.
func (b *build) noteStale(unwritten []emit.File) {
	stale := map[string]bool{}
	for _, f := range unwritten {
		if old, err := os.ReadFile(pathOf(f)); err != nil || !emit.Same(old, f.Content) {
			stale[f.Package] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(stale)) {
		advice := "build it, too"
		if b.loaded.Program.InGroup(path) {
			advice = "build the group as a whole"
		}
		b.result.Notes = append(b.result.Notes, path+": generated code is missing or stale here, too: "+advice)
	}
}

// withDiagnostics adds the faults that emitters, and the compiler in the bodies of functions, find to those of a load,
// so that users see all of them at once. The plan is of an incomplete program then: what follows from a fault that the
// load has reported is left out.
func (b *build) withDiagnostics(ctx context.Context, err error) error {
	var faults diag.Errors
	if b.loaded == nil || !errors.As(err, &faults) {
		return err
	}
	reported := map[model.Position]bool{}
	for _, f := range faults {
		reported[f.Pos] = true
	}
	p := plan.New(b.loaded.Program)
	for _, e := range b.emitters {
		follows := func(f diag.Error) bool {
			if e.Certain {
				return reported[f.Pos] || b.loaded.Universe.Unread(f.Pos)
			}
			return reported[f.Pos] || b.loaded.Universe.Incomplete(f.Pos)
		}
		files, err := e.Emit(p)
		b.files = append(b.files, files...)
		var more diag.Errors
		errors.As(err, &more)
		faults = addNew(faults, without(more, follows))
		if e.Warnings != nil {
			b.result.Warnings = append(b.result.Warnings, without(e.Warnings(p), follows)...)
		}
	}
	return b.withBodies(ctx, faults.Err())
}

// without returns the faults that don't follow from others.
func without(faults diag.Errors, follows func(diag.Error) bool) diag.Errors {
	return slices.DeleteFunc(slices.Clone(faults), follows)
}

// withBodies adds the errors of the compiler in the bodies of the user's functions, as far as they can be told while
// something else keeps code from being generated.
func (b *build) withBodies(ctx context.Context, err error) error {
	var faults diag.Errors
	if !errors.As(err, &faults) {
		return err
	}
	bodies, cerr := verify.Bodies(ctx, b.loaded.Universe, b.files)
	if cerr != nil {
		return err // the next run reports it
	}
	for _, f := range bodies {
		if !b.loaded.Universe.Incomplete(f.Pos) {
			faults = append(faults, f)
		}
	}
	return faults.Err()
}
