package generator

import (
	"context"
	"errors"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
	"apigen.dev/generator/verify"
)

// withRest adds the faults that emitters, and the compiler in the bodies of functions, find to those of a load, so that
// users see all of them at once. What an emitter can't cope with, in a program that is at fault, is left for the next run.
func (b *build) withRest(ctx context.Context, err error) error {
	var faults emit.Errors
	if b.loaded == nil || !errors.As(err, &faults) {
		return err
	}
	told := map[model.Position]bool{}
	for _, f := range faults {
		told[f.Pos] = true
	}
	for _, e := range b.emitters {
		files, more := attempt(e, b.loaded.Program)
		b.files = append(b.files, files...)
		for _, f := range more {
			if !told[f.Pos] && !b.loaded.Universe.Incomplete(f.Pos) { // else it follows from what is told already
				faults = append(faults, f)
			}
		}
	}
	return b.withBodies(ctx, faults.Err())
}

// attempt runs an emitter on a program that is at fault.
func attempt(e emit.Emitter, p *model.Program) (files []emit.File, faults emit.Errors) {
	defer func() {
		if recover() != nil {
			files, faults = nil, nil // of a program that could not be read as a whole
		}
	}()
	files, err := e.Emit(p)
	errors.As(err, &faults)
	return files, faults
}

// withBodies adds what doesn't compile in the bodies of the user's functions, as far as that can be told while something
// else keeps code from being generated.
func (b *build) withBodies(ctx context.Context, err error) error {
	var faults emit.Errors
	if !errors.As(err, &faults) {
		return err
	}
	bodies, cerr := verify.Bodies(ctx, b.loaded.Universe, b.files)
	if cerr != nil {
		return err // it is what the next run is about
	}
	for _, f := range bodies {
		if !b.loaded.Universe.Incomplete(f.Pos) {
			faults = append(faults, f)
		}
	}
	return faults.Err()
}
