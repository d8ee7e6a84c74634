// Package emit defines what an emitter is: a pure function from the model to files. Each emitter is a package below this
// one; package generator lists them. An emitter never touches the disk, never asks the type checker, and returns all
// its errors at once.
package emit

import (
	"fmt"
	"sort"
	"strings"

	"apigen.dev/generator/model"
)

// File is a generated file.
type File struct {
	// Package is the import path of the package that the file belongs to, Dir its directory.
	Package, Dir string
	// PackageName is the Go name of the package.
	PackageName string
	// Name is the base name: zz_generated.deepcopy.go.
	Name    string
	Content []byte
}

// Emitter is one product of the generator.
type Emitter struct {
	// Name is used by --only: deepcopy.
	Name string
	// Doc is one line for the help.
	Doc string
	// Owns tells whether a file of that base name is this emitter's, so that one that is no longer produced is found
	// to be left over, and existing ones are blanked while loading.
	Owns func(base string) bool
	// Emit returns the files, formatted, in an order that depends on the program alone. The error may be Errors.
	Emit func(*model.Program) ([]File, error)
	// Warnings returns what the user should know though it is no fault: a method that looks like a convention's but has
	// another signature. Nil where the emitter has none.
	Warnings func(*model.Program) []Error
	// Remarks returns what a user may want to know who asks: what the product leaves out by its nature. Nil where the emitter
	// has none.
	Remarks func(*model.Program) []Error
}

// Error is a fault in the input, at a position.
type Error struct {
	Pos model.Position
	// Message says what was seen and what to write instead.
	Message string
	// Lenient: --lenient makes it a warning.
	Lenient bool
}

func (e Error) Error() string {
	if e.Pos.IsValid() {
		return fmt.Sprintf("%s: %s", e.Pos, e.Message)
	}
	return e.Message
}

// Errors are all the faults of a run.
type Errors []Error

// Add appends an error.
func (e *Errors) Add(pos model.Position, format string, args ...any) {
	*e = append(*e, Error{Pos: pos, Message: fmt.Sprintf(format, args...)})
}

// Err returns the errors sorted by position and without duplicates, or nil where there are none.
func (e Errors) Err() error {
	if len(e) == 0 {
		return nil
	}
	sorted := append(Errors(nil), e...)
	sort.SliceStable(sorted, func(i, j int) bool { return less(sorted[i].Pos, sorted[j].Pos) })
	out := sorted[:1]
	for _, x := range sorted[1:] {
		if x != out[len(out)-1] {
			out = append(out, x)
		}
	}
	return out
}

func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

func less(a, b model.Position) bool {
	if a.Filename != b.Filename {
		return a.Filename < b.Filename
	}
	if a.Line != b.Line {
		return a.Line < b.Line
	}
	return a.Column < b.Column
}
