// Package emit defines what an emitter is: a pure function from the plan to files. Each emitter is a package below this
// one; package generator lists them. An emitter never touches the disk, never asks the type checker, imports no other
// emitter, and returns all its errors at once.
package emit

import (
	"path"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/plan"
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
	// Files are patterns, as of path.Match, for the base names of the emitter's files. A load leaves existing files
	// out, and a build removes those that are no longer produced.
	Files []string
	// Emit returns the files, formatted, in an order that depends on the plan alone. The error may be diag.Errors.
	Emit func(*plan.Plan) ([]File, error)
	// Warnings returns what the user should know though it is not a fault: a method that looks like a convention's but
	// has another signature. Nil where the emitter has none.
	Warnings func(*plan.Plan) []diag.Error
	// Certain: no fault that Emit returns follows from a type that doesn't compile, for the plan judges none of those.
	Certain bool
	// Remarks returns what the product leaves out by its nature, for users who ask. Nil where the emitter has none.
	Remarks func(*plan.Plan) []diag.Error
}

// Owns reports whether a file of that base name is the emitter's.
func (e Emitter) Owns(base string) bool {
	return slices.ContainsFunc(e.Files, func(pattern string) bool {
		matched, err := path.Match(pattern, base)
		return matched && err == nil
	})
}
