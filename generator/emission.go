package generator

import (
	"context"
	"errors"
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

// emit makes the files of the emitters that find no faults in a plan, and returns the faults of the others. The error
// is a bug.
func (b *build) emit(p *plan.Plan, follows follows) (diag.Errors, error) {
	clean, faults := judge(p, b.emitters, follows)
	for _, e := range b.emitters {
		if e.Warnings == nil {
			continue
		}
		for _, w := range e.Warnings(p) {
			if !follows(e, w) {
				b.result.Warnings = append(b.result.Warnings, w)
			}
		}
	}
	for _, e := range clean {
		if e.Remarks != nil {
			b.result.Remarks = append(b.result.Remarks, e.Remarks(p)...)
		}
	}
	var bugs diag.Errors
	b.files, bugs = files(p, clean)
	b.result.Files = len(b.files)
	if bugs != nil {
		return nil, verify.Bug{Errors: bugs}
	}
	return faults, nil
}

// follows reports whether what an emitter finds follows from a fault that is reported already.
type follows func(emit.Emitter, diag.Error) bool

func nothing(emit.Emitter, diag.Error) bool { return false }

// judge returns the emitters that find no faults in a plan, and the faults of the others.
func judge(p *plan.Plan, emitters []emit.Emitter, follows follows) (clean []emit.Emitter, faults diag.Errors) {
	for _, e := range emitters {
		var found diag.Errors
		if e.Faults != nil {
			found = e.Faults(p)
		}
		if len(found) == 0 {
			clean = append(clean, e)
		}
		for _, f := range found { // emitters that share a part of the plan report its faults alike
			if !follows(e, f) && !slices.Contains(faults, f) {
				faults = append(faults, f)
			}
		}
	}
	return clean, faults
}

// files returns the files of emitters that find no faults in a plan, sorted by path, and what is wrong with emitters.
func files(p *plan.Plan, clean []emit.Emitter) (out []emit.File, bugs diag.Errors) {
	writers := map[string]string{}
	for _, e := range clean {
		made, err := e.Emit(p)
		if err != nil {
			bugs.Add(model.Position{}, "emitter %s: %v", e.Name, err)
		}
		for _, f := range made {
			if other := writers[pathOf(f)]; other != "" {
				bugs.Add(model.Position{}, "emitters %s and %s both write %s", other, e.Name, pathOf(f))
			}
			writers[pathOf(f)] = e.Name
		}
		out = append(out, made...)
	}
	slices.SortStableFunc(out, func(x, y emit.File) int { return strings.Compare(pathOf(x), pathOf(y)) })
	return out, bugs
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
	clean, _ := judge(p, b.all, nothing) // faults are those of a run that asks for the emitter
	all, _ := files(p, clean)
	out := slices.DeleteFunc(all, func(f emit.File) bool {
		return written[pathOf(f)] || len(b.Only) > 0 && !inLooked[f.Package]
	})
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
	follows := func(e emit.Emitter, f diag.Error) bool {
		if e.Certain {
			return reported[f.Pos] || b.loaded.Universe.Unread(f.Pos)
		}
		return reported[f.Pos] || b.loaded.Universe.Incomplete(f.Pos)
	}
	more, _ := b.emit(plan.New(b.loaded.Program), follows) // whether emitters have bugs, a complete program shows
	return b.withBodies(ctx, append(faults, more...))
}

// withBodies adds the errors of the compiler in the bodies of the user's functions, as far as they can be told while
// something else keeps code from being generated.
func (b *build) withBodies(ctx context.Context, faults diag.Errors) error {
	bodies, err := verify.Bodies(ctx, b.loaded.Universe, b.files)
	if err != nil {
		return faults.Err() // the next run reports it
	}
	for _, f := range bodies {
		if !b.loaded.Universe.Incomplete(f.Pos) {
			faults = append(faults, f)
		}
	}
	return faults.Err()
}
