// Package plan decides what a run of the generator writes, once and for the whole program: which functions will exist,
// how each field is converted, what registers a package's types, and what a server calls. A plan is pure data; it can be
// built from a model in a test, and printed. Emitters print from it and decide nothing that another one needs to know. It
// knows the model.
package plan

import (
	"slices"

	"apigen.dev/generator/model"
)

// Plan is a program and what is decided about it. It isn't changed once it is made.
type Plan struct {
	*model.Program
	// Also are the packages that files are planned for although the run only looks at them.
	Also []*model.Package
}

// New plans the files of the packages that a run was asked for, and those of the packages in also.
func New(program *model.Program, also ...*model.Package) *Plan {
	return &Plan{Program: program, Also: also}
}

// Writes tells whether files are planned for a package.
func (p *Plan) Writes(pkg *model.Package) bool {
	return pkg.Output || slices.Contains(p.Also, pkg)
}

// WritesGroup tells whether files are planned for any package of a group.
func (p *Plan) WritesGroup(g *model.Group) bool {
	if g.Internal != nil && p.Writes(g.Internal) {
		return true
	}
	return slices.ContainsFunc(g.Versions, func(v *model.Version) bool {
		return p.Writes(v.Package) || p.Writes(v.Package.Home())
	})
}

// WiredGroups are the groups that wiring is planned for.
func (p *Plan) WiredGroups() []*model.Group {
	return slices.DeleteFunc(p.Wired(), func(g *model.Group) bool { return !p.WritesGroup(g) })
}
