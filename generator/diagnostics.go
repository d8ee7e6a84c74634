package generator

import (
	"context"
	"errors"

	"apigen.dev/generator/diag"
	"apigen.dev/generator/model"
	"apigen.dev/generator/verify"
)

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
	p := planned(b.loaded.Program)
	for _, e := range b.emitters {
		files, err := e.Emit(p)
		b.files = append(b.files, files...)
		var more diag.Errors
		errors.As(err, &more)
		for _, f := range more {
			if !reported[f.Pos] && !b.loaded.Universe.Incomplete(f.Pos) {
				faults = addNew(faults, diag.Errors{f})
			}
		}
	}
	return b.withBodies(ctx, faults.Err())
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
