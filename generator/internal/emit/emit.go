// Package emit defines what an emitter is: a pure function from the plan to files. Each emitter is a package below this
// one; package generator lists them. An emitter never touches the disk, never asks the type checker, imports no other
// emitter, and finds all faults before it prints.
package emit

import (
	"path"
	"slices"

	"apigen.dev/generator/internal/diag"
	"apigen.dev/generator/internal/model"
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
	// Faults returns what keeps the product from being made of a plan: all of it, sorted. Nil where the emitter finds
	// nothing.
	Faults func(*plan.Plan) diag.Errors
	// Emit returns the files of a plan without faults, formatted, in an order that depends on the plan alone. An error
	// is a bug.
	Emit func(*plan.Plan) ([]File, error)
	// Warnings returns what the user should know though it is not a fault: a method that looks like a convention's but
	// has another signature. Nil where the emitter has none.
	Warnings func(*plan.Plan) []diag.Error
	// Certain: none of Faults follows from a type that doesn't compile, for the plan judges none of those.
	Certain bool
	// Remarks returns what the product leaves out by its nature, for users who ask. Nil where the emitter has none.
	Remarks func(*plan.Plan) []diag.Error
}

// FaultsOf returns an emitter's Faults, made of those of each package that files are planned for.
func FaultsOf(in func(*plan.Plan, *model.Package) diag.Errors) func(*plan.Plan) diag.Errors {
	return func(p *plan.Plan) diag.Errors {
		var out diag.Errors
		for _, pkg := range p.Written() {
			out = append(out, in(p, pkg)...)
		}
		return out.Sorted()
	}
}

// Owns reports whether a file of that base name is the emitter's.
func (e Emitter) Owns(base string) bool {
	return slices.ContainsFunc(e.Files, func(pattern string) bool {
		matched, err := path.Match(pattern, base)
		return matched && err == nil
	})
}
