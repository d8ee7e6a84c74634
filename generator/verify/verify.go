// Package verify type-checks what is about to be written, in memory, so that the generator never writes what doesn't
// compile. It knows the loaded universe and the emitters' files, and touches no disk but to read.
package verify

import (
	"context"
	"errors"
	"fmt"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/load"
)

// Bug is the error for generated code that doesn't compile although the user's does.
type Bug struct {
	Errors emit.Errors
}

func (b Bug) Error() string {
	return fmt.Sprintf("apigen generated code that doesn't compile, and wrote nothing; this is a bug of apigen:\n%v", b.Errors)
}

// Check type-checks the packages of a load with files in them. Gone tells the existing generated files that don't stay.
// The error is emit.Errors where the user's own code doesn't compile, a Bug where only generated code doesn't. Faults
// in files of other generators are warnings.
func Check(ctx context.Context, u *load.Universe, files []emit.File, gone func(path string) bool) (warnings emit.Errors, err error) {
	diagnostics, err := u.Compile(ctx, files, gone)
	if err != nil {
		return nil, err
	}
	var user, ours emit.Errors
	for _, d := range diagnostics {
		switch {
		case !d.Output:
		case d.Origin == load.ByHand:
			user.Add(d.Pos, "%s", d.Message)
		case d.Origin == load.ByOther:
			warnings.Add(d.Pos, "in a file that another tool generated: %s", d.Message)
		case d.Origin == load.Existing:
			warnings.Add(d.Pos, "in a generated file that this run doesn't renew: %s", d.Message)
		default:
			ours.Add(d.Pos, "%s", d.Message)
		}
	}
	if err := user.Err(); err != nil {
		return warnings, err
	}
	if ours != nil {
		var sorted emit.Errors
		errors.As(ours.Err(), &sorted)
		return warnings, Bug{sorted}
	}
	return warnings, nil
}
