// Package verify type-checks what is about to be written, in memory, so that the generator never writes what doesn't
// compile. It knows the loaded universe and the emitters' files, and touches no disk but to read.
package verify

import (
	"context"
	"fmt"
	"regexp"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/emit"
	"apigen.dev/generator/internal/load"
)

// Bug is the error for generated code that doesn't compile although the user's does.
type Bug struct {
	Errors diag.Errors
}

func (b Bug) Error() string {
	return fmt.Sprintf("apigen generated code that doesn't compile, and wrote nothing; this is a bug of apigen:\n%v",
		b.Errors)
}

// Plan is what is to be checked.
type Plan struct {
	// Files are about to be written.
	Files []emit.File
	// Unwritten are the files of packages that this run only reads: another run writes them.
	Unwritten []emit.File
	// Removed reports whether this run removes an existing generated file.
	Removed func(path string) bool
	// Partial says that not all emitters ran: what these didn't write may be what hand-written code misses.
	Partial bool
}

// Check type-checks the packages of a load with a plan's files in them. The error is diag.Errors where the user's own
// code doesn't compile, a Bug where only generated code doesn't. Faults in files of other generators are warnings, and
// so are the user's in a partial plan.
func Check(ctx context.Context, u *load.Universe, p Plan) (warnings diag.Errors, err error) {
	diagnostics, err := u.Compile(ctx, filesOf(p.Files), filesOf(p.Unwritten), p.Removed)
	if err != nil {
		return nil, err
	}
	var user, ours diag.Errors
	for _, d := range diagnostics {
		switch {
		case !d.Output:
		case d.Origin == load.ByHand && p.Partial:
			warnings.Add(d.Pos, "%s (this run's emitters don't write it)", d.Message)
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
		return warnings, Bug{ours.Sorted()}
	}
	return warnings, nil
}

// Bodies returns the errors of the compiler in the bodies of the user's functions while other faults keep code from
// being generated. Files are those that emitters could make. Bodies leaves out errors that follow from generated code
// that is missing.
func Bodies(ctx context.Context, u *load.Universe, files []emit.File) (diag.Errors, error) {
	diagnostics, err := u.Compile(ctx, filesOf(files), nil, func(string) bool { return false })
	if err != nil {
		return nil, err
	}
	var faults diag.Errors
	for _, d := range diagnostics {
		missing := d.Soft || d.Uncopied || generatedName.MatchString(d.Name)
		if d.Output && d.Origin == load.ByHand && d.Body && !missing {
			faults.Add(d.Pos, "%s", d.Message)
		}
	}
	return faults, nil
}

var generatedName = regexp.MustCompile(`^(DeepCopy|(auto)?Convert_|SetObjectDefaults_|Validate_)|^(AddToScheme|` +
	`SchemeBuilder|localSchemeBuilder|SchemeGroupVersion|GroupVersion|GroupName|Resource|Kind|[aA]ddKnownTypes|` +
	`RegisterConversions|RegisterDefaults|wiring|Groups?|OpenAPIModelName)$`)

func filesOf(files []emit.File) []load.File {
	out := make([]load.File, len(files))
	for i, f := range files {
		out[i] = load.File(f)
	}
	return out
}
